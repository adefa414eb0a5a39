"""Random schemas of the whole subset and random values: the same verdict as plain jsonschema."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from dsh.tools_jsonschema import compile_output_schema, validate_structured_value

PAIRS = 2_000
VALUES_PER_SCHEMA = 12
EXAMPLES = 180
FUZZ = 100

KEYWORDS = {
    "$schema", "$defs", "definitions", "$ref", "anyOf", "type", "title", "description", "default",
    "examples", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems",
    "uniqueItems", "prefixItems", "items", "required", "properties", "additionalProperties",
}  # fmt: skip

GOOD_TEXT = {
    "date-time": "2024-02-29T23:59:60Z",
    "date": "2024-02-29",
    "time": "08:30:06.25+01:00",
    "uuid": "12345678-9abc-4def-8123-456789abcdef",
    "uri": "https://example.org/a?b#c",
    "email": "name@example.org",
}
PATTERNS = {"^a+$": "aaa", "b": "abc", "^[a-z]{2,3}$": "xyz", r"^\d*$": "42", "é": "café"}
NAMES = st.sampled_from(["a", "b", "$ref", "type", "odd key", "", "ключ", "x.y"])
SCALARS: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 0.0, -0.0, 2.5, 3, 10**30, 1e300, "", "a", "1", "true", "é",
]  # fmt: skip
scalars = st.sampled_from(SCALARS)
json_values = st.recursive(
    scalars
    | st.text(max_size=4)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def maybe(draw: Any, keywords: dict[str, st.SearchStrategy[Any]], odds: int = 3) -> dict[str, Any]:
    return {k: draw(s) for k, s in keywords.items() if draw(st.integers(1, odds)) == 1}


BOUNDS: dict[str, st.SearchStrategy[Any]] = {
    "minimum": st.sampled_from([-3, 0, 0.5, 2]),
    "maximum": st.sampled_from([1, 3.5, 10**31]),
    "exclusiveMinimum": st.sampled_from([-3, 0, 1.5]),
    "exclusiveMaximum": st.sampled_from([3, 7.5]),
    "multipleOf": st.sampled_from([1, 2, 0.5, 0.1]),
}
ANNOTATIONS: dict[str, st.SearchStrategy[Any]] = {
    "title": st.just("T"),
    "description": st.just("d"),
    "default": json_values,
    "examples": st.lists(json_values, max_size=2),
}


@st.composite
def scalar_nodes(draw: Any) -> dict[str, Any]:
    kind = draw(st.sampled_from(["string", "number", "integer", "boolean", "null"]))
    node: dict[str, Any] = {"type": kind}
    if kind == "string":
        sizes = {"minLength": st.integers(0, 2), "maxLength": st.integers(1, 9)}
        shapes = {
            "pattern": st.sampled_from(list(PATTERNS)),
            "format": st.sampled_from(list(GOOD_TEXT)),
        }
        node |= maybe(draw, sizes) | maybe(draw, shapes)
    elif kind in {"number", "integer"}:
        node |= maybe(draw, BOUNDS)
    values = {"enum": st.lists(scalars, min_size=1, max_size=3), "const": scalars}
    node |= maybe(draw, values, odds=5)
    if kind != "null" and draw(st.integers(1, 4)) == 1:
        node["type"] = draw(st.permutations([kind, "null"]))
    return node


@st.composite
def nodes(draw: Any, depth: int, references: tuple[str, ...]) -> dict[str, Any]:
    forms = ["scalar", "union"] + ["ref"] * bool(references)
    forms += ["array", "object", "optional"] * bool(depth)
    inner = nodes(depth - 1, references)
    match draw(st.sampled_from(forms)):
        case "ref":
            node = {"$ref": draw(st.sampled_from(references))}
        case "union":
            node = {"anyOf": draw(st.lists(scalar_nodes(), min_size=1, max_size=3))}
        case "optional":
            node = {"anyOf": draw(st.permutations([draw(inner), {"type": "null"}]))}
        case "array":
            node = draw(arrays(inner))
        case "object":
            node = draw(objects(inner))
        case _:
            node = draw(scalar_nodes())
    return node | maybe(draw, ANNOTATIONS, odds=6)


@st.composite
def arrays(draw: Any, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    sizes = {
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(1, 3),
        "uniqueItems": st.booleans(),
    }
    shapes = {"items": inner, "prefixItems": st.lists(inner, min_size=1, max_size=2)}
    return {"type": "array"} | maybe(draw, sizes, odds=2) | maybe(draw, shapes, odds=2)


@st.composite
def objects(draw: Any, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties: dict[str, Any] = draw(st.dictionaries(NAMES, inner, max_size=3))
    names = sorted(properties)
    more = {
        "required": st.lists(st.sampled_from(names), unique=True) if names else st.just([]),
        "additionalProperties": st.booleans() | inner,
    }
    return {"type": "object", "properties": properties} | maybe(draw, more, odds=2)


@st.composite
def schemas(draw: Any) -> dict[str, Any]:
    """Draw a root: definitions refer to earlier ones only, so that none is recursive."""
    definitions: dict[str, dict[str, Any]] = {"$defs": {}, "definitions": {}}
    references: tuple[str, ...] = ()
    for at in range(draw(st.integers(0, 3))):
        keyword = draw(st.sampled_from(["$defs", "definitions"]))
        definitions[keyword][f"d{at}"] = draw(nodes(1, references))
        references += (f"#/{keyword}/d{at}",)
    root = draw(objects(nodes(2, references)))
    root |= {keyword: held for keyword, held in definitions.items() if held}
    dialect = {"$schema": st.just("https://json-schema.org/draft/2020-12/schema")}
    return root | maybe(draw, dialect, odds=4) | maybe(draw, ANNOTATIONS, odds=6)


def near(draw: Any, node: dict[str, Any], root: dict[str, Any]) -> Any:
    """Draw a value that mostly fits the node, and now and then anything."""
    if draw(st.integers(1, 12)) == 1:
        return draw(json_values)
    if "$ref" in node:
        _, keyword, name = node["$ref"].split("/")
        return near(draw, root[keyword][name], root)
    if "anyOf" in node:
        return near(draw, draw(st.sampled_from(node["anyOf"])), root)
    for keyword in ("const", "enum"):
        if keyword in node:
            return node["const"] if keyword == "const" else draw(st.sampled_from(node["enum"]))
    kind: str | list[str] = node["type"]
    match kind if isinstance(kind, str) else draw(st.sampled_from(kind)):
        case "object":
            return near_object(draw, node, root)
        case "array":
            return near_array(draw, node, root)
        case "string":
            own = [
                GOOD_TEXT.get(node.get("format", ""), "b"),
                PATTERNS.get(node.get("pattern", ""), "a"),
            ]
            return draw(st.sampled_from([*own, "", "ab", "abcabcabcabc"]))
        case "null":
            return None
        case "boolean":
            return draw(st.booleans())
        case _:
            return draw(st.sampled_from([0, 1, 2, 2.0, 3, 0.3, 2.5, -2, 10**30, 1e300]))


def near_object(draw: Any, node: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = node["properties"]
    required: list[str] = node.get("required", [])
    kept = [name for name in properties if name in required or draw(st.booleans())]
    value = {name: near(draw, properties[name], root) for name in kept}
    extra = node.get("additionalProperties")
    if draw(st.integers(1, 3)) == 1:
        name = draw(NAMES)
        value.setdefault(name, near(draw, extra, root) if isinstance(extra, dict) else 1)  # pyright: ignore[reportUnknownArgumentType] -- JSON
    return value


def near_array(draw: Any, node: dict[str, Any], root: dict[str, Any]) -> list[Any]:
    prefix: list[Any] = node.get("prefixItems", [])
    value = [near(draw, item, root) for item in prefix]
    for _ in range(draw(st.integers(0, 3))):
        value.append(near(draw, node["items"], root) if "items" in node else draw(scalars))
    return value


@st.composite
def cases(draw: Any) -> tuple[dict[str, Any], list[Any]]:
    schema = draw(schemas())
    close = [near(draw, schema, schema) for _ in range(VALUES_PER_SCHEMA - 1)]
    return schema, [*close, draw(json_values)]


def keywords_in(node: Any) -> Iterator[str]:
    if type(node) is not dict:
        return
    known = cast("dict[str, Any]", node)
    yield from known
    for keyword in ("properties", "$defs", "definitions"):
        for inner in known.get(keyword, {}).values():
            yield from keywords_in(inner)
    for inner in (*known.get("anyOf", ()), *known.get("prefixItems", ())):
        yield from keywords_in(inner)
    yield from keywords_in(known.get("items"))
    yield from keywords_in(known.get("additionalProperties"))


def formats_of_ours() -> FormatChecker:
    """Give plain jsonschema our formats, which the official suite proves on their own."""
    checker = FormatChecker(formats=())
    for name in GOOD_TEXT:
        one = {"type": "object", "properties": {"t": {"type": "string", "format": name}}}
        checker.checks(name)(fits(compile_output_schema(one).violations))
    return checker


def fits(violations: Callable[[object], list[str]]) -> Callable[[object], bool]:
    return lambda text: not isinstance(text, str) or not violations({"t": text})


def judge_many(examples: int, *, derandomize: bool) -> tuple[int, int, Counter[str], Counter[bool]]:
    """Compare verdicts over so many schemas; return what was drawn."""
    checker = formats_of_ours()
    seen: Counter[str] = Counter()
    verdicts: Counter[bool] = Counter()
    drawn: list[int] = []

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=derandomize,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(cases())
    def compare(case: tuple[dict[str, Any], list[Any]]) -> None:
        schema, values = case
        Draft202012Validator.check_schema(schema)
        plain = Draft202012Validator(schema, format_checker=checker)
        validator = compile_output_schema(schema)
        drawn.append(len(values))
        seen.update(set(keywords_in(schema)))
        for value in values:
            violations = validator.violations(value)
            verdict: bool = plain.is_valid(value)  # pyright: ignore[reportUnknownMemberType] -- its stub
            assert (violations == []) == verdict, violations
            assert all(entry.startswith("value") for entry in violations)
            verdicts[verdict] += 1
        assert validate_structured_value(schema, values[0]) == validator.violations(values[0])

    compare()
    return len(drawn), sum(drawn), seen, verdicts


@pytest.mark.guarantee("B-SCH-22", "B-SCH-02")
def test_random_schemas_give_the_verdict_of_plain_jsonschema():
    """Over schemas that use every keyword, a value is valid here when the draft says it is."""
    count, pairs, seen, verdicts = judge_many(EXAMPLES, derandomize=True)
    assert pairs >= PAIRS
    rare = {keyword: seen[keyword] / count for keyword in KEYWORDS if seen[keyword] < count / 50}
    assert rare == {}
    assert set(seen) == KEYWORDS
    assert min(verdicts[True], verdicts[False]) > pairs / 10


@pytest.mark.fuzz
def test_random_schemas_by_the_hundred_thousand_give_the_verdict_of_plain_jsonschema():
    _, pairs, _, _ = judge_many(EXAMPLES * FUZZ, derandomize=False)
    assert pairs >= PAIRS * FUZZ
