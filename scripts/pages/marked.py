"""The tests that say what they prove, found in the syntax trees; no test is run or imported."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Final, final

from gates.workspace import State, state

TESTS: Final = ("packages/*/tests", "scripts/tests", "tests-integration")
GUARANTEE: Final = "guarantee"
FIELD_CASE: Final = "field_case"
FORM: Final = "as a decorator `@pytest.mark.{}(…)` on a test that pytest collects"
VOID: Final = re.compile(r"pytest\.mark\.(skip|xfail)\b")
"""The marks under which a test proves nothing. `skipif` is not one: it names a platform."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One test that names a behaviour it proves or a reported fault it answers."""

    path: str
    """From the root, with slashes."""
    name: str
    """As pytest writes it: `test_x` or `TestY::test_x`."""
    line: int
    guarantees: tuple[str, ...]
    field_cases: tuple[str, ...]
    sentence: str
    """Its docstring on one line; empty without one."""
    void: bool
    """Whether it never runs, or is expected to fail."""


@final
@dataclass(frozen=True, slots=True)
class Found:
    """Every marked test of a tree, and each place where a mark means nothing."""

    tests: list[Marked] = field(default_factory=list[Marked])
    faults: list[str] = field(default_factory=list[str])


def marked_tests(root: Path) -> Found:
    """Read every test file of the tree at *root*."""
    folders = [folder for pattern in TESTS for folder in sorted(root.glob(pattern))]
    return _found(root, state(path for each in folders for path in sorted(each.rglob("*.py"))))


@lru_cache(maxsize=1)
def _found(root: Path, files: State) -> Found:
    """Read *files* once for all who ask of the same state of them."""
    found = Found()
    for path, *_ in files:
        _read(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"), found)
    return found


def _read(path: str, text: str, found: Found) -> None:
    tree = ast.parse(text, filename=path)
    collected = path.rpartition("/")[2].startswith("test_")
    understood: set[ast.AST] = set()
    for name, function, around in _tests(tree) if collected else ():
        ids: dict[str, list[str]] = {GUARANTEE: [], FIELD_CASE: []}
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(func=ast.Attribute(attr=mark) as func) if (
                    mark in ids and ast.unparse(func) == f"pytest.mark.{mark}"
                ):
                    understood.add(func)
                    given = _strings(decorator)
                    if not given:
                        found.faults.append(f"{path}:{decorator.lineno}: no ids, written out")
                    ids[mark] += given
                case _:
                    pass
        if ids[GUARANTEE] or ids[FIELD_CASE]:
            marks = around + [ast.unparse(each) for each in function.decorator_list]
            found.tests.append(
                Marked(
                    path=path,
                    name=name,
                    line=function.lineno,
                    guarantees=tuple(ids[GUARANTEE]),
                    field_cases=tuple(ids[FIELD_CASE]),
                    sentence=" ".join((ast.get_docstring(function) or "").split()),
                    void=any(VOID.match(mark) for mark in marks),
                )
            )
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(
                attr="guarantee" | "field_case" as mark,
                value=ast.Attribute(attr="mark") | ast.Name(id="mark"),
            ) if node not in understood:
                found.faults.append(f"{path}:{node.lineno}: marked other than {FORM.format(mark)}")
            case _:
                pass


def _tests(tree: ast.Module) -> Iterator[tuple[str, Function, list[str]]]:
    """Yield each test with its name and the marks that its class and its module put on it."""
    everywhere = _pytestmark(tree.body)
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("test"):
                yield node.name, node, everywhere
            case ast.ClassDef() if node.name.startswith("Test"):
                around = [ast.unparse(each) for each in node.decorator_list]
                around += everywhere + _pytestmark(node.body)
                for inner in node.body:
                    if isinstance(inner, Function) and inner.name.startswith("test"):
                        yield f"{node.name}::{inner.name}", inner, around
            case _:
                pass


def _pytestmark(body: list[ast.stmt]) -> list[str]:
    """Return the marks a module or a class puts on every test in it."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id="pytestmark")], value=value):
                marks = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
                return [ast.unparse(mark) for mark in marks]
            case _:
                pass
    return []


def _strings(call: ast.Call) -> list[str]:
    """Return the arguments if all of them are literal strings, else nothing."""
    values = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    strings = [value for value in values if isinstance(value, str)]
    return strings if len(strings) == len(call.args) and not call.keywords else []
