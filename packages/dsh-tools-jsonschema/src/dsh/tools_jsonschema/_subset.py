"""Which schemas are accepted: the walk that lists everything outside the subset.

A node takes one of three forms: it declares a `type`, it is a `$ref`, or it is an `anyOf`. The
last two carry annotations and nothing else. The table of keywords is in `_keywords`, the rules
for references in `_references`.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, final

from dsh.tools_jsonschema._data import data_findings, key_problem
from dsh.tools_jsonschema._errors import OutputSchemaError
from dsh.tools_jsonschema._keywords import (
    ANNOTATIONS,
    CONSTRAINTS,
    DATA_KEYWORDS,
    JSON_TYPES,
    SCALAR_TYPES,
    VALUE_CHECKS,
    accepted_on,
    required_problems,
)
from dsh.tools_jsonschema._plain import is_array, is_object, is_string
from dsh.tools_jsonschema._quote import counted, listed, shown_as_json
from dsh.tools_jsonschema._references import (
    DEFINITION_KEYWORDS,
    ROOT,
    DefinitionKey,
    Definitions,
    Reference,
    recursive,
    string_items,
    total_level,
)
from dsh.tools_jsonschema._walk import Child, Walk

StructuredOutputSchema: TypeAlias = dict[str, Any]
"""A JSON Schema of the subset: a plain dict of JSON data whose root declares ``object``.

`Any`, because JSON nests and dicts are invariant: the walk is what checks it.
"""

FORMS: Final = ("type", "anyOf", "$ref")
"""The keywords that give a node its form; a node has one of them."""

MOST_SCHEMA_LEVELS: Final = 100
"""How deep schemas may be nested in one another, with every reference followed."""

MOST_SCHEMAS: Final = 100_000
"""How many schemas, one inside the other, a schema may consist of."""


def assert_supported_output_schema(schema: StructuredOutputSchema) -> None:
    """Accept the schema in full or refuse it with everything that is wrong with it.

    Reads *schema* and keeps nothing of it. What passes is a valid schema of draft 2020-12 in
    which every keyword is enforced by `validate_structured_value`.

    Raises:
        OutputSchemaError: The schema is outside the subset, or is not a JSON schema at all;
            its `violations` are in walk order, each with its path.
    """
    violations = _Subset(schema).violations()
    if violations:
        raise OutputSchemaError(violations)


@final
class _Subset:
    """One walk over one schema, and what it has to remember until it has seen everything."""

    def __init__(self, schema: object) -> None:
        self._schema = schema
        self._walk = Walk("schema", most_nodes=MOST_SCHEMAS)
        self._definitions = Definitions(schema)
        self._references: list[Reference] = []
        self._levels = dict.fromkeys((ROOT, *self._definitions.keys()), 1)

    def violations(self) -> list[str]:
        walk, schema = self._walk, self._schema
        walk.over(schema, self._visit)
        cycles = recursive(self._references)
        for reference in reversed(cycles):
            problem = (
                "is recursive: its definition leads back to itself, only finite ones are accepted"
            )
            walk.findings.insert(reference.position, f"{reference.where}: {problem}")
        if not cycles:
            self._report_depth()
        if not walk.findings and is_object(schema) and schema.get("type") != "object":
            walk.report(f'the root must declare type "object", not {_root_form(schema)}')
        return walk.findings

    def _report_depth(self) -> None:
        deepest = total_level(self._levels, self._references)
        if deepest > MOST_SCHEMA_LEVELS:
            self._walk.report(
                f"is nested {deepest} levels deep with its references followed, "
                f"at most {MOST_SCHEMA_LEVELS} are accepted"
            )

    def _visit(self, walk: Walk, node: object) -> Iterator[Child]:
        if not is_object(node):
            walk.report(f"must be a schema, a plain JSON object, not {shown_as_json(node)}")
            return
        owner, level = self._place()
        self._levels[owner] = max(self._levels[owner], level)
        keywords = _string_keyed(walk, node)
        if "$ref" in keywords:
            form, kind = "$ref", None
            self._refer(keywords["$ref"])
        elif "anyOf" in keywords:
            form, kind = "anyOf", None
        else:
            form, kind = "type", self._kind(keywords)
        for keyword, value in keywords.items():
            if keyword == form == "anyOf":
                yield from self._alternatives(value)
            elif keyword != form:
                yield from self._keyword(keyword, value, keywords, form=form, kind=kind)

    def _place(self) -> tuple[DefinitionKey, int]:
        """Return the part of the schema the visited node belongs to, and its level in it."""
        path = self._walk.path
        if len(path) >= 2 and path[0] in DEFINITION_KEYWORDS:
            return (str(path[0]), str(path[1])), self._walk.level - 1
        return ROOT, self._walk.level

    def _kind(self, keywords: dict[str, Any]) -> str | None:
        """Return the type that decides which keywords are legal; `None` when it is bad."""
        if "type" not in keywords:
            self._walk.report(f"must declare a type, one of {listed(JSON_TYPES)}")
            return None
        declared = keywords["type"]
        if is_string(declared):
            if declared in JSON_TYPES:
                return declared
        elif is_array(declared):
            return self._nullable_kind(declared)
        self._walk.report(
            f"must be one of {listed(JSON_TYPES)}, not {shown_as_json(declared)}", "type"
        )
        return None

    def _nullable_kind(self, declared: list[Any]) -> str | None:
        names = [name for name in declared if is_string(name) and name in JSON_TYPES]
        kinds = [name for name in names if name != "null"]
        if len(declared) == len(names) == 2 and len(kinds) == 1:
            return kinds[0]
        self._walk.report(
            'must be a single type, or one type and "null"; '
            f"not {shown_as_json(declared)} ({listed(declared)})",
            "type",
        )
        return None

    def _keyword(
        self, keyword: str, value: object, keywords: dict[str, Any], *, form: str, kind: str | None
    ) -> Iterator[Child]:
        """Check one keyword that is not the one giving the node its form."""
        is_root = not self._walk.path
        if keyword in ANNOTATIONS or (is_root and keyword == "$schema"):
            self._check(keyword, value)
        elif is_root and keyword in DEFINITION_KEYWORDS:
            yield from self._schemas(keyword, value)
        elif keyword not in CONSTRAINTS and keyword not in FORMS:
            self._walk.report(_unsupported(keyword, kind))
        elif form != "type":
            self._walk.report(f"{shown_as_json(keyword)} is not accepted beside {form}")
        elif kind is not None and kind not in CONSTRAINTS[keyword]:
            self._walk.report(
                f"{shown_as_json(keyword)} is not accepted on type {shown_as_json(kind)}; "
                f"accepted there: {listed(accepted_on(kind))}"
            )
        elif kind is not None:
            yield from self._constraint(keyword, value, keywords)

    def _constraint(self, keyword: str, value: object, keywords: dict[str, Any]) -> Iterator[Child]:
        if keyword == "required":
            for below, problem in required_problems(value, keywords.get("properties")):
                self._walk.report(problem, keyword, *below)
        elif keyword == "properties":
            yield from self._schemas(keyword, value)
        elif keyword == "prefixItems":
            yield from self._schema_list(keyword, value)
        elif keyword in VALUE_CHECKS:
            self._check(keyword, value)
        elif keyword == "items" or type(value) is not bool:  # additionalProperties takes booleans
            yield (keyword,), value

    def _check(self, keyword: str, value: object) -> None:
        if keyword in DATA_KEYWORDS:
            self._walk.findings += data_findings(value, self._walk.where(keyword))
            return
        for below, problem in VALUE_CHECKS[keyword](value):
            self._walk.report(problem, keyword, *below)

    def _schemas(self, keyword: str, value: object) -> Iterator[Child]:
        if not is_object(value):
            self._walk.report(
                f"must be a plain JSON object of schemas, not {shown_as_json(value)}", keyword
            )
            return
        for name, schema in list(value.items()):
            problem = key_problem(name)
            if problem is None:
                yield (keyword, name), schema
            else:
                self._walk.report(problem, keyword)

    def _schema_list(self, keyword: str, value: object) -> Iterator[Child]:
        if not is_array(value) or not value:
            self._walk.report(
                f"must be a list of at least one schema, not {shown_as_json(value)}", keyword
            )
            return
        for index, schema in enumerate(list(value)):
            yield (keyword, index), schema

    def _alternatives(self, value: object) -> Iterator[Child]:
        """Accept one branch beside null, or any number of branches of scalar types."""
        yield from self._schema_list("anyOf", value)
        if not is_array(value):
            return
        types = [self._definitions.types(branch) for branch in value]
        is_optional = len(types) == 2 and frozenset({"null"}) in types
        if not is_optional and any(kinds and not kinds <= SCALAR_TYPES for kinds in types):
            self._walk.report(
                'must be one branch beside {"type": "null"}, or scalar types; got '
                f"{counted(len(types), 'branch', 'branches')}, containers or unions among them",
                "anyOf",
            )

    def _refer(self, reference: object) -> None:
        problem = self._definitions.problem(reference)
        if problem is not None:
            self._walk.report(problem, "$ref")
            return
        owner, level = self._place()
        self._references.append(
            Reference(
                owner=owner,
                target=self._definitions.key(reference),
                level=level,
                position=len(self._walk.findings),
                where=self._walk.where("$ref"),
            )
        )


def _string_keyed(walk: Walk, node: dict[Any, Any]) -> dict[str, Any]:
    """Report the keys that JSON does not have, and return the entries that remain."""
    for key in list(node):
        problem = key_problem(key)
        if problem is not None:
            walk.report(problem)
    return dict(string_items(node))


def _unsupported(keyword: str, kind: str | None) -> str:
    """Say that a keyword is not in the subset, and what may have been meant."""
    known = [*ANNOTATIONS, *CONSTRAINTS, *FORMS]
    close = get_close_matches(keyword, known, n=1) if len(keyword) < 40 else []
    hint = f"; did you mean {shown_as_json(close[0])}?" if close else ""
    if not close and kind is not None:
        hint = f"; accepted on type {shown_as_json(kind)}: {listed(accepted_on(kind)) or 'none'}"
    return f"unsupported keyword {shown_as_json(keyword)}{hint}"


def _root_form(schema: dict[str, Any]) -> str:
    if "type" not in schema:
        return "$ref" if "$ref" in schema else "anyOf"
    declared = schema["type"]
    return listed(declared) if is_array(declared) else shown_as_json(declared)
