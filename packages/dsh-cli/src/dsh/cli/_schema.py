"""The shape of the answer, from a file or from code of the user's."""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from dsh.cli._errors import BadInputError
from dsh.tools_jsonschema import (
    OutputSchemaError,
    assert_supported_output_schema,
    output_schema_from,
)

__all__ = ["OutputSchema", "load_schema"]

OutputSchema = dict[str, Any] | type[Any]

FLAG = "--output-schema"


def load_schema(named: str) -> OutputSchema:
    """The JSON schema in the file *named*, or the type that ``module:Name`` says.

    Modules are found in the current directory too, as by ``python -m``.

    Raises:
      BadInputError: there is no such file or type, or it is outside the subset of schemas.
    """
    path = Path(named)
    if os.path.isfile(path):
        return _from_file(path)
    module, colon, name = named.partition(":")
    if not colon or not module or not name:
        raise BadInputError(FLAG, f"{named!r} is neither a file nor like module:Model")
    return _from_code(module, name)


def _from_file(path: Path) -> OutputSchema:
    try:
        schema: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as exc:
        raise BadInputError(FLAG, f"{path} cannot be read as JSON: {exc}") from exc
    try:
        assert_supported_output_schema(schema)
    except OutputSchemaError as exc:
        raise BadInputError(FLAG, f"{path}: {exc}") from exc
    return schema


def _from_code(module: str, name: str) -> OutputSchema:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as exc:  # code of the user's may raise anything on import
        raise BadInputError(FLAG, f"{module}:{name}: {type(exc).__name__}: {exc}") from exc
    if not isinstance(found, type):
        raise BadInputError(FLAG, f"{module}:{name} is a {type(found).__name__}, not a type")
    try:
        output_schema_from(found)
    except OutputSchemaError as exc:
        raise BadInputError(FLAG, f"{module}:{name}: {exc}") from exc
    return found
