"""What becomes of a result between a backend and its reader. Pure.

Next: `_child.py`, which settles with it.
"""

from dataclasses import replace
from typing import Any, cast

import trio

from dsh.agent import AgentId, DelegatedUsage, Usage
from dsh.subagent._errors import described
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult
from dsh.tools_jsonschema import StructuredValueError

__all__ = ["checked", "completed", "delegated_usage"]


def checked(result: SubagentResult[Any]) -> SubagentResult[Any]:
    """Return *result*, or refuse what is none.

    Raises:
      TypeError: A backend gave something else.
    """
    if not isinstance(cast("object", result), SubagentResult):
        raise TypeError(f"a backend gives a SubagentResult, not {type(result).__name__}")
    if not isinstance(cast("object", result.stop_reason), str):
        raise TypeError(f"stop_reason is a str, not {type(result.stop_reason).__name__}")
    if not isinstance(cast("object", result.output), tuple | list):
        raise TypeError(f"output is a tuple of blocks, not {type(result.output).__name__}")
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
