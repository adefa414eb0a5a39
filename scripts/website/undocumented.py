"""Every public name says what it is for: what `__all__` lists, and what is found on its classes.

A field may be explained where its class is: named there in double backticks, in asterisks or in an
`Attributes` or `Args` section. A name that a base of ours explains is explained.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from griffe import Alias, Class, Module

from pages.api import members_of
from pages.configuration import is_config, settings
from pages.library import ancestry, exports, library, public_modules


def undocumented(root: Path) -> list[str]:
    """Return each public name of the members of the tree at *root* that nothing explains."""
    found = {
        f"{path}: public, and nothing says what it is for"
        for package in library(root).values()
        for module in public_modules(package)
        if module.exports
        for path in _silent_module(module)
    }
    return sorted(found)


def _silent_module(module: Module) -> Iterator[str]:
    if not module.docstring:
        yield module.path
    for name, each in exports(module):
        if isinstance(each, Alias):  # what leads out of the family is explained where it is from
            continue
        if not each.docstring:
            yield f"{module.path}.{name}"
        if isinstance(each, Class):
            yield from (f"{module.path}.{name}.{inner}" for inner in _silent_members(each))


def _silent_members(cls: Class) -> Iterator[str]:
    family = ancestry(cls)
    described = {each.name for each in settings(cls) if each.description} if is_config(cls) else ()
    for name, each in members_of(cls):
        special = name.startswith("__") or name == "model_config"  # Python's and pydantic's
        if not (special or each.docstring or name in described or _explained(family, name)):
            yield name


def _explained(family: list[Class], name: str) -> bool:
    own = any(name in cls.members and cls.members[name].docstring for cls in family)
    return own or any(_names(cls, name) for cls in family)


def _names(cls: Class, name: str) -> bool:
    text = cls.docstring.value if cls.docstring else ""
    marked = rf"``{name}``|\*{name}\*|^ +{name}(?: \(.*\))?: "
    return re.search(marked, text, re.MULTILINE) is not None
