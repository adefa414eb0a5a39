"""The JSON Schema subset of structured output.

Everything accepted is enforced, everything else is refused, with every violation and its path.

Where things live, in reading order:

- `_keywords`: the table of the subset; `_subset`: the walk that accepts or refuses a schema.
- `_validator`: judging values; `_data`: what counts as JSON data; `_dialect`, `_compiled`: the
  library that judges and what it is given; `_verdict`: its errors in our words.
- `_formats`, `_pattern`, `_references`: the keywords that need more than a line.
- `_typed`, `_lowering`: schemas from Python types, and values of these types.
- `_walk`, `_quote`, `_plain`, `_errors`: the one walk, the one way to quote, the exact types of
  JSON, the refusals.

Importing this package imports none of `jsonschema`, `pydantic` and `regex`; each is loaded by the
first call that needs it.
"""

from dsh.tools_jsonschema._errors import (
    OutputSchemaError,
    StructuredOutputError,
    StructuredValueError,
)
from dsh.tools_jsonschema._pattern import pattern_problem
from dsh.tools_jsonschema._subset import StructuredOutputSchema, assert_supported_output_schema
from dsh.tools_jsonschema._typed import output_schema_from, parse_structured
from dsh.tools_jsonschema._validator import (
    OutputValidator,
    compile_output_schema,
    validate_structured_value,
)

__all__ = [
    "OutputSchemaError",
    "OutputValidator",
    "StructuredOutputError",
    "StructuredOutputSchema",
    "StructuredValueError",
    "assert_supported_output_schema",
    "compile_output_schema",
    "output_schema_from",
    "parse_structured",
    "pattern_problem",
    "validate_structured_value",
]
