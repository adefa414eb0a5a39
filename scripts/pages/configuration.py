"""`docs/configuration.md`: every configuration model the members export, field by field."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from griffe import Attribute, Class

from pages.library import ancestry, exports, expression, first_line, library, public_modules
from pages.page import NOTICE, Page, table

PATH: Final = "docs/configuration.md"
BOUNDS: Final = {
    "gt": ">",
    "ge": "≥",
    "lt": "<",
    "le": "≤",
    "min_length": "length ≥",
    "max_length": "length ≤",
    "pattern": "matches",
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One field of a configuration model, as its source says it."""

    name: str
    type: str
    default: str
    """Empty when the field is required."""
    description: str


def render(root: Path) -> Mapping[str, str]:
    """Return the page."""
    parts = [
        f"# Configuration\n{NOTICE}\n"
        "What a host may set, by package. Each table is a pydantic model: a value that does not fit"
        " is refused when the\nconfiguration is read, with the field's path.\n"
    ]
    for distribution, name, model in _models(root):
        rows = [
            (f"`{each.name}`", f"`{each.type}`", _default(each), each.description)
            for each in settings(model)
        ]
        parts.append(
            f"\n## {distribution}: `{name}`\n\n{first_line(model)}\n\n"
            + table(("Field", "Type", "Default", "Meaning"), rows)
        )
    return {PATH: "".join(parts)}


def faults(root: Path) -> Iterator[str]:
    """Yield each field nobody explains."""
    for _, name, model in _models(root):
        for each in settings(model):
            if not each.description:
                yield f"{name}.{each.name}: no description, neither in its Field nor below it"


def _models(root: Path) -> Iterator[tuple[str, str, Class]]:
    """Yield each configuration model with its distribution and the name to import it by."""
    for distribution, package in library(root).items():
        seen: set[str] = set()
        for module in public_modules(package):
            for name, each in exports(module):
                if isinstance(each, Class) and is_config(each) and each.path not in seen:
                    seen.add(each.path)
                    yield distribution, f"{module.path}.{name}", each


def is_config(cls: Class) -> bool:
    """Whether *cls* is a pydantic model called a configuration."""
    bases = {str(base).rpartition(".")[2] for each in ancestry(cls) for base in each.bases}
    return cls.name.endswith("Config") and "BaseModel" in bases


def settings(model: Class) -> Iterator[Setting]:
    """Yield the fields of *model*, those of its bases first, in the order of the source."""
    fields: dict[str, Attribute] = {}
    for cls in reversed(ancestry(model)):
        for name, each in cls.members.items():
            # griffe keeps a ClassVar's type without the word, and says so by a missing label.
            if isinstance(each, Attribute) and each.annotation and _is_field(name, each):
                fields[name] = each
    return (_setting(name, each) for name, each in fields.items())


def _is_field(name: str, attribute: Attribute) -> bool:
    return "instance-attribute" in attribute.labels and not name.startswith(("_", "model_config"))


def _setting(name: str, attribute: Attribute) -> Setting:
    kind, described = _annotated(str(attribute.annotation))
    value = expression(attribute.value)
    if field := _field(value):
        described = {**described, **_keywords(field)}
        value = field.args[0] if field.args else None
        if isinstance(value, ast.Constant) and value.value is Ellipsis:
            value = None
    default = ast.unparse(value) if value else described.get("default", "")
    if "default_factory" in described:
        default = f"{described['default_factory']}()"
    bounds = [f"{sign} {described[key]}" for key, sign in BOUNDS.items() if key in described]
    meaning = described.get("description") or first_line(attribute)
    return Setting(
        name=name,
        type=", ".join([kind, *bounds]),
        default=default,
        description=_literal(meaning),
    )


def _annotated(annotation: str) -> tuple[str, dict[str, str]]:
    """Return the type and what `Annotated[…, Field(…)]` adds to it."""
    match ast.parse(annotation, mode="eval").body:
        case ast.Subscript(value=outer, slice=ast.Tuple(elts=[inner, *extras])) if (
            ast.unparse(outer).rpartition(".")[2] == "Annotated"
        ):
            fields = [field for extra in extras if (field := _field(extra))]
            return ast.unparse(inner), {k: v for f in fields for k, v in _keywords(f).items()}
        case _:
            return annotation, {}


def _field(value: ast.expr | None) -> ast.Call | None:
    match value:
        case ast.Call(func=func) if ast.unparse(func).rpartition(".")[2] == "Field":
            return value
        case _:
            return None


def _keywords(call: ast.Call) -> dict[str, str]:
    return {each.arg: ast.unparse(each.value) for each in call.keywords if each.arg}


def _literal(text: str) -> str:
    """Return the string *text* spells, if it is the source of one."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, str) else text


def _default(setting: Setting) -> str:
    return f"`{setting.default}`" if setting.default else "required"


PAGE: Final = Page(name="configuration", owns=PATH, render=render)
