"""The official test suite of draft 2020-12, translated into the subset case by case.

A case whose schema has no place in the subset must be refused loudly, and is then listed with
its reason in `suite/exclusions.toml`. See `suite/README.md` for the origin of the files.
"""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, TypeGuard

import pytest

from dsh.tools_jsonschema import OutputSchemaError, validate_structured_value

SUITE = Path(__file__).parent / "suite"
FILES = sorted(SUITE.rglob("*.json"))

APPLIES: dict[str, str] = {
    **dict.fromkeys(("minLength", "maxLength", "pattern", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), "number"),
    "multipleOf": "number",
    **dict.fromkeys(("minItems", "maxItems", "uniqueItems", "prefixItems", "items"), "array"),
    **dict.fromkeys(("properties", "required", "additionalProperties"), "object"),
}
SCALARS = ("string", "number", "boolean", "null")


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def type_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case None:
            return "null"
        case list():
            return "array"
        case _:
            return "object"


def on_type(schema: dict[str, Any], kind: str) -> dict[str, Any]:
    """Declare a type: the keywords of other types say nothing about its values, and go."""
    kept = {k: v for k, v in schema.items() if APPLIES.get(k, kind) == kind}
    return {"type": kind, **kept}


def typed(schema: Any, values: list[Any]) -> Any:
    """Give a schema the types the subset asks for, judging *values* exactly as before."""
    if schema is True:
        schema = {}
    if not is_object(schema) or "$ref" in schema:
        return schema
    node = dict(schema)
    if "anyOf" in node and node.keys() == {"anyOf"}:
        return {"anyOf": [typed(branch, values) for branch in node["anyOf"]]}
    if "type" not in node:
        told: list[Any] = node.get("enum", [node["const"]] if "const" in node else values)
        kinds = sorted({type_of(value) for value in told}) or ["null"]
        if len(kinds) > 1 and not set(kinds) - set(SCALARS):
            return {"anyOf": [on_type(node, kind) for kind in kinds]}
        node = on_type(node, kinds[0])
    elif node.keys() == {"type"} and is_array(names := node["type"]):
        return {"anyOf": [{"type": name} for name in names]}
    return below(node, values)


def below(node: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    objects = [value for value in values if is_object(value)]
    arrays = [value for value in values if is_array(value)]
    if is_object(properties := node.get("properties")):
        node["properties"] = {
            name: typed(schema, [value[name] for value in objects if name in value])
            for name, schema in properties.items()
        }
    if is_array(required := node.get("required")):
        declared = node.setdefault("properties", {})
        for name in required:  # every required name is declared; nothing is said about its value
            declared.setdefault(name, typed({}, [v[name] for v in objects if name in v]))
    if "additionalProperties" in node:
        own: dict[str, Any] = node.get("properties", {})
        extras = [item for value in objects for key, item in value.items() if key not in own]
        node["additionalProperties"] = typed(node["additionalProperties"], extras)
    prefix: list[Any] = node.get("prefixItems", [])
    if prefix:
        node["prefixItems"] = [
            typed(schema, [value[at] for value in arrays if at < len(value)])
            for at, schema in enumerate(prefix)
        ]
    if "items" in node:
        rest = [item for value in arrays for item in value[len(prefix) :]]
        node["items"] = typed(node["items"], rest)
    return node


def translated(schema: Any, value: Any) -> dict[str, Any]:
    """Put the schema of a case under the key `value` of an object, as the subset's root."""
    root: dict[str, Any] = {"type": "object", "properties": {}, "required": ["value"]}
    if not is_object(schema):
        return {**root, "properties": {"value": schema}}
    inner = dict(schema)
    hoisted = {k: inner.pop(k) for k in ("$schema", "$defs", "definitions") if k in inner}
    for keyword in hoisted.keys() & {"$defs", "definitions"}:
        if is_object(definitions := hoisted[keyword]):
            hoisted[keyword] = {name: typed(node, [value]) for name, node in definitions.items()}
    return {**root, "properties": {"value": typed(inner, [value])}, **hoisted}


def cases() -> list[tuple[str, str, str, Any, Any, bool]]:
    return [
        (
            path.relative_to(SUITE).with_suffix("").as_posix(),
            group["description"],
            case["description"],
            group["schema"],
            case["data"],
            case["valid"],
        )
        for path in FILES
        for group in json.loads(path.read_text(encoding="utf-8"))
        for case in group["tests"]
    ]


EXCLUDED: list[dict[str, Any]] = tomllib.loads(
    (SUITE / "exclusions.toml").read_text(encoding="utf-8")
)["group"]
EXCLUSIONS: dict[tuple[str, str], dict[str, Any]] = {
    (entry["file"], entry["name"]): entry for entry in EXCLUDED
}


def is_excluded(file: str, group: str, case: str) -> bool:
    entry = EXCLUSIONS.get((file, group))
    return entry is not None and case in entry.get("cases", [case])


@pytest.mark.guarantee("B-SCH-02", "B-SCH-03")
def test_every_case_of_the_official_suite_passes_or_is_refused_loudly():
    """A schema of draft 2020-12 is either judged exactly as the draft says or refused."""
    wrong: list[str] = []
    for file, group, case, schema, value, valid in cases():
        name = f"{file}: {group}: {case}"
        try:
            violations = validate_structured_value(translated(schema, value), {"value": value})
        except OutputSchemaError:
            if not is_excluded(file, group, case):
                wrong.append(f"refused, but not listed: {name}")
            continue
        differs = bool(violations) == valid
        if differs != is_excluded(file, group, case):
            wrong.append(f"{'judged otherwise' if differs else 'listed for nothing'}: {name}")
    assert wrong == []


def test_at_most_a_quarter_of_the_official_cases_is_excluded_each_with_a_reason():
    every = [(file, group, case) for file, group, case, *_ in cases()]
    excluded = Counter(is_excluded(*names) for names in every)[True]
    assert excluded <= len(every) / 4
    assert len(every) > 800
    assert all(entry["reason"].strip() for entry in EXCLUDED)
    assert EXCLUSIONS.keys() <= {(file, group) for file, group, _ in every}
