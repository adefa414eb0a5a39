"""`docs/errors.md`: every error of the family with its code, by package."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from griffe import Attribute, Class, Module

from pages.library import (
    ancestry,
    exports,
    expression,
    first_line,
    is_exception,
    library,
    modules,
    public_modules,
)
from pages.page import NOTICE, Page, table

PATH: Final = "docs/errors.md"


def render(root: Path) -> Mapping[str, str]:
    """Return the page."""
    parts = [
        f"# Errors\n{NOTICE}\n"
        "Every exception class with a `code`: catch by class, route by code, read the message to"
        " repair.\nA class without a code of its own is a base, or sets one for each instance.\n"
    ]
    for name, package in library(root).items():
        public = {
            each.path: f"{module.path}.{exported}"
            for module in public_modules(package)
            for exported, each in exports(module)
        }
        rows = [
            (f"`{public.get(cls.path, cls.path)}`", code, _bases(cls), first_line(cls))
            for cls, code in sorted(errors(package), key=lambda each: each[0].path)
        ]
        if rows:
            parts.append(f"\n## {name}\n\n" + table(("Error", "Code", "Base", "When"), rows))
    return {PATH: "".join(parts)}


def errors(package: Module) -> Iterator[tuple[Class, str]]:
    """Yield each exception class of *package* that has a code, and what the page shows of it."""
    for module in modules(package):
        for cls in module.members.values():
            if isinstance(cls, Class) and is_exception(cls) and not cls.name.startswith("_"):
                codes = [
                    code
                    for each in ancestry(cls)
                    if isinstance(code := each.members.get("code"), Attribute)
                ]
                if codes:
                    yield cls, _code(codes[0])


def _code(attribute: Attribute) -> str:
    match expression(attribute.value):
        case ast.Constant(value=str(code)):
            return f"`{code}`"
        case _:
            return "none"


def _bases(cls: Class) -> str:
    return ", ".join(f"`{base}`" for base in cls.bases)


PAGE: Final = Page(name="errors", owns=PATH, render=render)
