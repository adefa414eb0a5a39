"""Rules of this house that no linter has, read from the syntax tree.

- Nothing catches `trio.Cancelled`: a nursery raises groups, so such a handler is never complete.
  Clean-up belongs in `finally`.
- Our own packages are imported at the top of a module. An import in a function hides a cycle, or a
  dependency that does not point down.
- Tests do not sleep: they wait for an event, or move trio's clock (`autojump_clock`).
- What the coverage is not to count says why: `# pragma: no cover - REASON`, or `no branch`.
- A module of a package has at most 300 lines, above that it holds two nouns; a function at most 60,
  which is a screen. What an `__init__` imports and exports is not counted: a large door is long,
  not complicated. A package that is being built (`[tool.dsh] unfinished`) is not judged yet.
"""

import ast
import re
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Final

from gates.gate import Gate
from gates.workspace import members

MAX_LINES: Final = 300
MAX_FUNCTION: Final = 60
SLEEPS: Final = frozenset({"sleep", "sleep_until"})
SLEEPERS: Final = frozenset({"trio", "time", "asyncio", "anyio"})
PRAGMA: Final = re.compile(r"#\s*pragma\s*:?\s*no\s*(cover|branch)", re.IGNORECASE)
REASONED: Final = re.compile(r"# pragma: no (cover|branch) - \S")
WRITTEN: Final = ("packages", "scripts", "tests-integration", "examples", "benchmarks")


def check(root: Path) -> list[str]:
    """Return every breach in the Python files we write, as `file:line: what`."""
    files = sorted(path for folder in WRITTEN for path in (root / folder).rglob("*.py"))
    finished = {
        path for member in members(root) if not member.unfinished for path in member.sources
    }
    failures: list[str] = []
    for path in files:
        where, text = path.relative_to(root), path.read_text(encoding="utf-8")
        tree = ast.parse(text, filename=str(where))
        failures += [f"{where}:{line}: {what}" for line, what in _breaches(tree, is_test(where))]
        failures += [f"{where}:{line}: {what}" for line, what in _unreasoned(text)]
        if path in finished:
            failures += [f"{where}{what}" for what in _too_long(tree, _counted(path, tree, text))]
    return failures


def _too_long(tree: ast.Module, lines: int) -> Iterator[str]:
    if lines > MAX_LINES:
        yield f": {lines} lines; split it by noun, {MAX_LINES} are the limit"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            if count > MAX_FUNCTION:
                yield f":{node.lineno}: {node.name}: {count} lines, {MAX_FUNCTION} are the limit"


def _counted(path: Path, tree: ast.Module, text: str) -> int:
    return len(text.splitlines()) - (_door_lines(tree) if path.name == "__init__.py" else 0)


def _door_lines(tree: ast.Module) -> int:
    """How many lines of an `__init__` import names or list them in `__all__`."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
    )


def is_test(path: Path) -> bool:
    """Whether *path*, from the root of the repository, is test code."""
    return "tests" in path.parts or path.parts[0] == "tests-integration"


def _breaches(tree: ast.Module, test: bool) -> Iterator[tuple[int, str]]:
    names = _imported(tree)
    for node in ast.walk(tree):
        match node:
            case ast.ExceptHandler(type=ast.expr() as caught):
                if any(
                    _qualified(each, names) == "trio.Cancelled" for each in _alternatives(caught)
                ):
                    yield node.lineno, "catches trio.Cancelled; clean up in `finally`"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for line, module in _local_imports(node):
                    yield line, f"imports {module} in a function; import it at the top"
            case ast.Attribute() | ast.Name() if test:  # called, or handed to a nursery
                module, _, function = _qualified(node, names).rpartition(".")
                if module in SLEEPERS and function in SLEEPS:
                    yield node.lineno, f"{module}.{function} in a test; wait for what is to happen"
            case _:
                pass


def _unreasoned(text: str) -> Iterator[tuple[int, str]]:
    if PRAGMA.search(text) is None:
        return
    for token in tokenize.generate_tokens(StringIO(text).readline):
        found = PRAGMA.search(token.string) if token.type == tokenize.COMMENT else None
        if found and not REASONED.search(token.string):
            how = f"`# pragma: no {found[1].lower()} - REASON`"
            yield token.start[0], f"takes code out of the coverage without a reason; say {how}"


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for: `{"Cancelled": "trio.Cancelled", "t": "time"}`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return names


def _qualified(node: ast.expr, names: dict[str, str]) -> str:
    match node:
        case ast.Name(id=name):
            return names.get(name, name)
        case ast.Attribute(value=value, attr=attribute):
            return f"{_qualified(value, names)}.{attribute}"
        case _:
            return "?"


def _alternatives(caught: ast.expr) -> list[ast.expr]:
    return caught.elts if isinstance(caught, ast.Tuple) else [caught]


def _local_imports(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the imports of our own packages in *function*, not those of functions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names if _ours(each.name))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if _ours(module):
                yield node.lineno, module
        pending += ast.iter_child_nodes(node)


def _ours(module: str) -> bool:
    return module.startswith(".") or module.split(".")[0] == "dsh"


GATE: Final = Gate(name="house", check=check)
