"""Judging values: a schema compiled once, and values judged against it as often as needed."""

from __future__ import annotations

import marshal
from functools import lru_cache
from itertools import islice
from typing import Final, final

from dsh.tools_jsonschema._compiled import compiled
from dsh.tools_jsonschema._data import data_findings
from dsh.tools_jsonschema._dialect import dialect
from dsh.tools_jsonschema._pattern import PatternBudget
from dsh.tools_jsonschema._subset import StructuredOutputSchema, assert_supported_output_schema
from dsh.tools_jsonschema._verdict import violation_texts

MOST_VIOLATIONS: Final = 1_000
"""How many violations of one value are listed before the rest is left out."""

LONGEST_KEPT: Final = 50_000
"""Bytes of a schema beyond which its validator is not kept for the next time."""


@final
class OutputValidator:
    """An accepted schema, ready to judge any number of values; made by `compile_output_schema`.

    Immutable, and independent of the schema it was made from. Usable from several threads.
    """

    __slots__ = ("_judge",)

    def __init__(self, schema: StructuredOutputSchema) -> None:
        assert_supported_output_schema(schema)
        self._judge = dialect()(compiled(schema))

    def violations(self, value: object) -> list[str]:
        """Return everything that is wrong with *value*; an empty list means it is valid.

        Never raises, whatever *value* is, and calls no method of a foreign object. Entries are
        path-qualified (``value.a.b[2]``), in the order: a missing key, then declared keys as
        declared, then extra keys. The pattern matches of one call take at most one second of
        CPU time together.
        """
        findings = data_findings(value, "value", most_findings=MOST_VIOLATIONS + 1)
        if not findings:
            findings = self._judged(value)
        if len(findings) > MOST_VIOLATIONS:
            findings[MOST_VIOLATIONS:] = [f"value: has more than {MOST_VIOLATIONS} violations"]
        return findings

    def _judged(self, value: object) -> list[str]:
        with PatternBudget():
            texts = violation_texts(self._judge.iter_errors(value))
            try:
                return list(islice(texts, MOST_VIOLATIONS + 1))
            except RecursionError:  # the library recurses, up to 100 levels of schema
                return ["value: could not be judged, the caller left too little stack"]


def compile_output_schema(schema: StructuredOutputSchema) -> OutputValidator:
    """Return the validator of *schema*, for callers that judge more than one value.

    Compiling the same schema again costs a few microseconds: the last validators are kept.

    Raises:
        OutputSchemaError: The schema is outside the subset.
    """
    try:
        text = marshal.dumps(schema)
    except ValueError:  # not plain data, or too deep: nothing that could be accepted
        return OutputValidator(schema)
    return _compiled_from(text) if len(text) <= LONGEST_KEPT else OutputValidator(schema)


@lru_cache(maxsize=128)
def _compiled_from(text: bytes) -> OutputValidator:
    """Compile from the schema's own bytes, so that what is kept cannot be another schema's.

    Unlike JSON text, they tell exact types apart: 1 from 1.0 and True, a list from a tuple.
    """
    return OutputValidator(marshal.loads(text))


def validate_structured_value(schema: StructuredOutputSchema, value: object) -> list[str]:
    """Return everything that is wrong with *value* under *schema*; nothing when it is valid.

    See `compile_output_schema` and `OutputValidator.violations`.

    Raises:
        OutputSchemaError: The schema is outside the subset. The value never makes it raise.
    """
    return compile_output_schema(schema).violations(value)
