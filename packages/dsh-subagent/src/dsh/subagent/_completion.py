"""What becomes of a result between a backend and its reader. Pure.

Next: `_child.py`, which settles with it.
"""

from dataclasses import replace
from types import NoneType
from typing import Any, Final, cast, get_args

import trio

from dsh.agent import AgentId, ContentBlock, DelegatedUsage, Usage
from dsh.subagent._errors import described
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult
from dsh.tools_jsonschema import StructuredValueError

__all__ = ["checked", "completed", "delegated_usage"]


_BLOCKS: Final = get_args(ContentBlock)
_FIELDS: Final = (
    ("stop_reason", str, "a str"),
    ("output", (tuple, list), "a tuple of blocks"),
    ("detail", (str, NoneType), "a str or None"),
    ("usage", (Usage, NoneType), "a Usage or None"),
    ("model_requests", (int, NoneType), "an int or None"),
    ("tool_calls", (int, NoneType), "an int or None"),
    ("seconds", (int, float), "a number"),
)


def checked(result: SubagentResult[Any]) -> SubagentResult[Any]:
    """Return *result*, or refuse what is none.

    Raises:
      TypeError: A backend gave something else, or something else in a field of it.
      ValueError: It gave no word as the stop reason, or a count below 0.
    """
    if not isinstance(cast("object", result), SubagentResult):
        raise TypeError(f"a backend gives a SubagentResult, not {type(result).__name__}")
    for field, kinds, expected in _FIELDS:
        if not isinstance(value := getattr(result, field), kinds):
            raise TypeError(f"{field} is {expected}, not {type(value).__name__}")
    for block in result.output:
        if not isinstance(block, _BLOCKS):
            raise TypeError(f"output is a tuple of blocks, not of {type(block).__name__}")
    if not result.stop_reason:
        raise ValueError("stop_reason is empty; it says why the child ended")
    if min(result.model_requests or 0, result.tool_calls or 0, result.seconds) < 0:
        raise ValueError("model_requests, tool_calls and seconds are never below 0")
    return result


def completed(
    result: SubagentResult[Any],
    request: ResolvedRequest,
    *,
    child_id: AgentId,
    began: float,
    instead: str,
) -> SubagentResult[Any]:
    """Fill in what the seam knows; a completed end without its value becomes *instead*."""
    value, problem = result.value, None
    if value is None and (result.completed or result.structured is not None):
        value, problem = _parsed(request, result.structured)
    short = problem is not None and result.completed
    return replace(
        result,
        stop_reason=instead if short else result.stop_reason,
        output=tuple(result.output),
        value=value,
        detail=problem if short else result.detail,
        seconds=result.seconds or trio.current_time() - began,
        child_id=child_id,
    )


def delegated_usage(result: SubagentResult[Any], *, child_id: AgentId) -> DelegatedUsage | None:
    """Return what the parent is to add to its own tallies; ``None`` where nobody counted."""
    counts = (result.usage, result.model_requests, result.tool_calls)
    if all(count is None for count in counts):
        return None
    return DelegatedUsage(
        child_id=child_id,
        usage=result.usage or Usage(),
        model_requests=result.model_requests or 0,
        tool_calls=result.tool_calls or 0,
    )


def _parsed(request: ResolvedRequest, structured: object) -> tuple[Any, str | None]:
    """Return the value asked for, or what is wrong with *structured*."""
    try:
        return request.parse(structured), None
    except StructuredValueError as exc:
        return None, str(exc)
    except Exception as exc:  # noqa: BLE001 - a type's own validator may raise anything
        return None, described(exc)
