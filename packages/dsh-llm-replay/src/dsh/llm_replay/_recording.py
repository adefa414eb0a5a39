"""What a recording is made of: a line that says so, then one line for each request.

A request is known by its session and its number in it. Sessions are numbered by their first
requests, since their ids are new each time. The messages of a request are written from where they
depart from the request before it in the session, and what else it carries where that changes, so
that a recording grows with the conversation and not with its square.

Next: ``_recorder.py``, which writes them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, cast, final

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    JsonValueError,
    Message,
    ShapeError,
    ToolChoice,
    ToolSchema,
    read_shape,
    write_shape,
)
from dsh.llm_replay._errors import RecordingError

__all__ = ["HEADER", "Asked", "Call", "Failure", "Piece", "Rest", "encode_call", "read_calls"]

HEADER: Final = b'{"type":"recording","version":1}\n'


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a request carries beside its messages."""

    model: str
    system: str | None = None
    tools: tuple[ToolSchema, ...] | None = None
    tool_choice: ToolChoice = "auto"
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request: the first ``kept`` messages of the one before in its session, and new ones."""

    kept: int = 0
    messages: tuple[Message, ...] = ()
    rest: Rest | None = None
    """``None`` where it is that of the request before."""

    @classmethod
    def of(cls, request: ChatRequest, before: "Asked | None") -> "Asked":
        """*request* in full, or what is new in it since *before*, itself in full."""
        rest = Rest(
            model=request.model,
            system=request.system,
            tools=request.tools,
            tool_choice=request.tool_choice,
            options=request.options,
        )
        messages = tuple(request.messages)
        if before is None:
            return cls(messages=messages, rest=rest)
        kept = _common(before.messages, messages)
        changed = None if rest == before.rest else rest
        return cls(kept=kept, messages=messages[kept:], rest=changed)

    def after(self, before: "Asked | None") -> "Asked":
        """The request in full, given the one *before* it in full."""
        if before is None:
            return self
        messages = before.messages[: self.kept] + self.messages
        return Asked(messages=messages, rest=self.rest or before.rest)


def _common(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    pairs = zip(before, now, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before), len(now)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A delta, as it was heard."""

    kind: Literal["text", "thinking"]
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How a request failed."""

    message: str
    code: str
    response: ChatResponse | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request and what came of it; neither answer nor failure where it was cancelled."""

    session: int
    number: int
    asked: Asked
    heard: tuple[Piece, ...] = ()
    answer: ChatResponse | None = None
    failure: Failure | None = None


def encode_call(call: Call) -> bytes:
    """The line of *call*: ASCII, so that nothing inside a text can be taken for its end."""
    return json.dumps(write_shape(call), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_calls(path: Path) -> list[list[Call]]:
    """The calls of a recording by session and number, each request in full.

    Raises:
      RecordingError: the file is missing or is no recording.
    """
    try:
        header, *lines = path.read_bytes().splitlines(keepends=True) or [b""]
    except (OSError, ValueError) as exc:  # ValueError: a null byte, which no path has
        raise RecordingError(f"{path}: {getattr(exc, 'strerror', exc)}") from exc
    if header != HEADER:
        raise RecordingError(f"{path}:1: is no recording, or one of another version")
    calls = [_decoded(line, path, number) for number, line in enumerate(lines, 2)]
    return _by_session(sorted(calls, key=lambda call: (call.session, call.number)), path)


def _decoded(line: bytes, path: Path, number: int) -> Call:
    try:
        return cast("Call", read_shape(Call, json.loads(line), "call"))
    except (ValueError, RecursionError, ShapeError, JsonValueError) as exc:
        raise RecordingError(f"{path}:{number}: {exc}") from exc


def _by_session(calls: list[Call], path: Path) -> list[list[Call]]:
    sessions: list[list[Call]] = []
    for call in calls:
        if call.number == 0 and call.session == len(sessions):
            sessions.append([])
        known = sessions[call.session] if call.session < len(sessions) else None
        if known is None or call.number != len(known):
            where = f"request {call.number + 1} of session {call.session + 1}"
            raise RecordingError(f"{path}: {where} does not follow the one before")
        asked = call.asked.after(known[-1].asked if known else None)
        known.append(
            Call(
                session=call.session,
                number=call.number,
                asked=asked,
                heard=call.heard,
                answer=call.answer,
                failure=call.failure,
            )
        )
    return sessions
