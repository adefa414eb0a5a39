"""What an agent says, read leniently: agents are newer, older and sloppier than any model of them.

What is no message at all is ``None``; an optional part that makes no sense is left out, as the
models of the protocol do it themselves. Next: `_updates.py`, what the updates of a turn amount to.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from dsh.agent import Usage
from dsh.subagent_acp._permission import PermissionOption, PermissionRequest

if TYPE_CHECKING:
    from acp.schema import InitializeResponse, NewSessionResponse, SessionNotification

__all__ = [
    "read_initialized",
    "read_new_session",
    "read_permission_request",
    "read_stop_reason",
    "read_update",
    "read_usage",
]

M = TypeVar("M", bound=BaseModel)


def read_initialized(result: object) -> "InitializeResponse | None":
    """Read the answer to ``initialize``; ``None`` where it is none."""
    from acp import schema

    return _read(schema.InitializeResponse, result)


def read_new_session(result: object) -> "NewSessionResponse | None":
    """Read the answer to ``session/new``; ``None`` where it is none."""
    from acp import schema

    return _read(schema.NewSessionResponse, result)


def read_update(params: object) -> "SessionNotification | None":
    """Read a ``session/update``; ``None`` for kinds that the models do not know."""
    from acp import schema

    return _read(schema.SessionNotification, params)


def read_stop_reason(result: object) -> str | None:
    """Read why a turn ended, in whatever word the agent has for it (B214)."""
    reason = _fields(result).get("stopReason")
    return reason if isinstance(reason, str) else None


def read_usage(result: object) -> Usage | None:
    """Read what the session has cost so far, where the agent says so.

    The protocol's counts do not overlap, as ours: its total is their sum.
    """
    from acp import schema

    usage = _read(schema.Usage, _fields(result).get("usage"))
    if usage is None:
        return None
    return Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_read_tokens or 0,
        cache_write_tokens=usage.cached_write_tokens or 0,
        reasoning_tokens=usage.thought_tokens or 0,
    )


def read_permission_request(params: object) -> tuple[str, PermissionRequest] | None:
    """Read the session and the question of a ``session/request_permission``.

    Options of a kind nobody knows are left out: what cannot be told to be safe is not offered.
    """
    from acp import schema

    fields = _fields(params)
    session_id, offered = fields.get("sessionId"), fields.get("options")
    call = _read(schema.ToolCallUpdate, fields.get("toolCall"))
    if call is None or not isinstance(session_id, str) or not isinstance(offered, list):
        return None
    read = [_read(schema.PermissionOption, each) for each in cast("list[object]", offered)]
    return session_id, PermissionRequest(
        call_id=call.tool_call_id,
        title=call.title or "",
        kind=call.kind or "other",
        arguments=call.raw_input,
        options=tuple(
            PermissionOption(option_id=each.option_id, name=each.name, kind=each.kind)
            for each in read
            if each is not None
        ),
    )


def _read(model: type[M], value: object) -> M | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _fields(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
