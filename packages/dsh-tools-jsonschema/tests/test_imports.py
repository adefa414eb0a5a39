"""What importing the package costs."""

import subprocess
import sys

import pytest

HEAVY = {"jsonschema", "pydantic", "pydantic_core", "regex", "referencing", "trio"}


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*(name for name in sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return HEAVY & set(result.stdout.split())


USES = "from dsh.tools_jsonschema import *\nschema = {'type': 'object', 'properties': {}}\n"


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import dsh.tools_jsonschema", set[str]()),
        (USES + "assert_supported_output_schema(schema)", set[str]()),
        (USES + "validate_structured_value(schema, {})", {"jsonschema", "referencing"}),
        (USES + "output_schema_from(int)", {"pydantic", "pydantic_core"}),
        (
            USES + "schema['properties']['x'] = {'type': 'string', 'pattern': 'a'}\n"
            "assert_supported_output_schema(schema)",
            {"regex"},
        ),
    ],
)
def test_a_library_is_imported_by_the_first_call_that_needs_it(code: str, loaded: set[str]):
    assert loaded_after(code) == loaded
