"""The members as griffe reads them: statically, so that no page depends on what an import does."""

import ast
import builtins
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from griffe import Alias, Class, Function, GriffeLoader, Module, Object

from gates.workspace import State, members, state


def library(root: Path) -> Mapping[str, Module]:
    """Return the import package of each member of the tree at *root* by its distribution's name.

    Names that one member takes from another are resolved.
    """
    return _read(root, state(path for member in members(root) for path in member.sources))


@lru_cache(maxsize=1)
def _read(root: Path, _state: State) -> Mapping[str, Module]:
    """Read the tree once for all who ask of the same *_state* of it: several pages and gates do."""
    present = [member for member in members(root) if (member.source / "__init__.py").is_file()]
    if not present:
        return {}
    loader = GriffeLoader(
        search_paths=[member.path / "src" for member in present], allow_inspection=False
    )
    namespace = loader.load("dsh")
    loader.resolve_aliases(external=False)
    modules = {each.path: each for each in namespace.members.values() if isinstance(each, Module)}
    return {member.name: modules[member.module] for member in present}


def modules(package: Module) -> Iterator[Module]:
    """Yield *package* and every module below it, private ones too."""
    yield package
    for each in package.members.values():
        if isinstance(each, Module):
            yield from modules(each)


def public_modules(package: Module) -> Iterator[Module]:
    """Yield *package* and what lies below it without an underscore."""
    return (each for each in modules(package) if "._" not in each.path)


def exports(module: Module) -> list[tuple[str, Object | Alias]]:
    """Return what `__all__` lists, sorted; a name that leads out of the family stays an alias."""
    names = sorted(str(each) for each in module.exports or ())
    found = [(name, module.members.get(name)) for name in names]
    return [(name, target(each)) for name, each in found if each is not None]


def target(each: Object | Alias) -> Object | Alias:
    """Return what *each* stands for, as far as the family knows it."""
    if isinstance(each, Alias) and each.resolved:
        return each.final_target
    return each


def ancestry(cls: Class) -> list[Class]:
    """Return *cls* and those of its bases that are ours, the nearest first."""
    return [cls, *cls.mro()]


def is_exception(cls: Class) -> bool:
    """Whether *cls* can be raised."""
    bases = {str(base) for each in ancestry(cls) for base in each.bases}
    found = [getattr(builtins, base, None) for base in bases]
    return any(isinstance(each, type) and issubclass(each, BaseException) for each in found)


def first_line(each: Object | Alias) -> str:
    """Return the summary of the docstring, or nothing."""
    return each.docstring.value.strip().partition("\n\n")[0] if each.docstring else ""


def is_async(function: Function) -> bool:
    """Whether calling *function* gives something to await."""
    return "async" in function.labels


def expression(source: object) -> ast.expr | None:
    """Return the syntax tree of an expression griffe kept, if there is one."""
    return None if source is None else ast.parse(str(source), mode="eval").body
