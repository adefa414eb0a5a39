"""The arguments of a tool call: read once from the model's text, then frozen."""

import json
from typing import Final, Never

from dsh.agent._json import JsonValueError, freeze_json
from dsh.agent._tool import ToolArgsError

__all__ = ["EMPTY", "read_arguments"]

EMPTY: Final = "{}"
"""What a call without any argument text stands for (B-AGT-33)."""


def read_arguments(name: str, text: str) -> object:
    """The JSON value of *text*, deeply frozen, for the tool *name*.

    Nothing is repaired: text that is not JSON is reported as such, and where (B036).

    Raises:
      ToolArgsError: it is not JSON, or JSON that would not survive being written down.
    """
    try:
        return freeze_json(_DECODER.decode(text), at="arguments")
    except json.JSONDecodeError as exc:
        problem = f"not JSON: {exc.msg} at line {exc.lineno}, column {exc.colno}"
    except JsonValueError as exc:
        problem = str(exc)
    except RecursionError:
        problem = "not JSON that can be read: it nests too deeply"
    except ValueError as exc:  # a constant of JavaScript, or an integer beyond Python's limit
        problem = f"not JSON that can be read: {str(exc).partition(';')[0]}"
    raise ToolArgsError(name, (problem,))


def _refuse(constant: str) -> Never:
    raise ValueError(f"{constant} is not a JSON number")


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)
