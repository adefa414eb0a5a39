"""What counts as JSON data: the check that comes before any judgement, and makes it safe.

Only the exact built-in types pass, so that no method of a foreign object is ever called: not
here, and not by the library that judges afterwards.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any, Final

from dsh.tools_jsonschema._plain import is_array, is_object, is_string
from dsh.tools_jsonschema._quote import class_name, is_encodable, shown_as_json
from dsh.tools_jsonschema._walk import Child, Walk

MOST_LEVELS: Final = 200
"""How deep arrays and objects may be nested in one another."""

MOST_DIGITS: Final = 4_300
"""How long an integer may be: the most digits Python reads from text unless told otherwise."""

MOST_PARTS: Final = 1_000_000
"""How many scalars, arrays and objects a value may consist of."""


def data_findings(value: object, root: str, *, most_findings: int | None = None) -> list[str]:
    """Return why *value* is not JSON data, each entry with its path; nothing when it is."""
    walk = Walk(root, most_nodes=MOST_PARTS, most_findings=most_findings)
    if not (is_array(value) or is_object(value)):
        problem = scalar_problem(value)
        if problem is not None:
            walk.report(problem)
        return walk.findings
    walk.over(value, _visit)
    if walk.deepest > MOST_LEVELS:
        walk.report(f"is nested {walk.deepest} levels deep, at most {MOST_LEVELS} are accepted")
    return walk.findings


def _visit(walk: Walk, node: object) -> Iterator[Child]:
    """Check the scalars of one container on the spot, and yield the containers inside it."""
    if is_object(node):
        yield from _visit_object(walk, node)
    else:
        assert is_array(node), "a walk descends into nothing else"
        for index, item in enumerate(list(node)):
            if is_array(item) or is_object(item):
                yield (index,), item
                continue
            walk.spend(1)
            problem = scalar_problem(item)
            if problem is not None:
                walk.report(problem, index)


def _visit_object(walk: Walk, node: dict[Any, Any]) -> Iterator[Child]:
    for key, item in list(node.items()):
        problem = key_problem(key)
        if problem is not None:
            walk.report(problem)
            continue
        if is_array(item) or is_object(item):
            yield (key,), item
            continue
        walk.spend(1)
        problem = scalar_problem(item)
        if problem is not None:
            walk.report(problem, key)


def key_problem(key: object) -> str | None:
    """Return why *key* cannot be the key of a JSON object."""
    if not is_string(key):
        return f"has a key that is no string but a Python {class_name(key)}"
    if not is_encodable(key):
        return f"has the key {shown_as_json(key)}, whose unpaired surrogate no UTF-8 text can carry"
    return None


def scalar_problem(value: object) -> str | None:
    """Return why *value* is no JSON string, number, boolean or null."""
    kind = type(value)
    if kind is str:
        return _string_problem(value)
    if kind is int:
        return _integer_problem(value)
    if kind is float:
        return _float_problem(value)
    if kind is bool or value is None:
        return None
    return f"must be JSON data, not a Python {class_name(value)}"


def _string_problem(value: Any) -> str | None:
    if is_encodable(value):
        return None
    return f"has an unpaired surrogate, which no UTF-8 text can carry: {shown_as_json(value)}"


def _float_problem(value: Any) -> str | None:
    if math.isfinite(value):
        return None
    return f"must be a finite number, not {shown_as_json(value)}"


def _integer_problem(value: Any) -> str | None:
    most = _most_digits()
    if value.bit_length() <= most * 3 or abs(value) < 10**most:
        return None
    return f"must have at most {most} digits, not {shown_as_json(value)}"


def _most_digits() -> int:
    """Return how long an integer this process can carry as JSON text."""
    allowed = sys.get_int_max_str_digits()  # 0: the process has lifted the limit
    return min(MOST_DIGITS, allowed) if allowed else MOST_DIGITS
