"""A log as bytes: a header line, then one JSON event a line.

Lines are ASCII and end with a line feed and nothing else, so that no separator inside a text
(U+2028, U+0085, a carriage return) and no half of a character can be taken for the end of one,
and lone surrogates survive. Every event carries its number, so that a lost line is seen.
"""

import json
import logging
from dataclasses import dataclass
from typing import Final, cast, final

from dsh.agent._errors import AgentError
from dsh.agent._events import (
    AssistantMessage,
    ContextMessage,
    CustomEvent,
    PartialMessage,
    PromptBlocked,
    RequestHeader,
    SessionEvent,
    SteeringMessage,
    StepEnded,
    StepStarted,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from dsh.agent._json import JsonValueError
from dsh.agent._lineage import SessionHeader
from dsh.agent._shapes import ShapeError, read_shape, write_shape

__all__ = [
    "SESSION_FORMAT_VERSION",
    "DecodedLog",
    "LogFormatError",
    "decode_header",
    "decode_log",
    "encode_event",
    "encode_header",
]

logger = logging.getLogger("dsh.agent")

SESSION_FORMAT_VERSION: Final = 1
"""The only format this code reads and writes; there is no silent migration."""

_NAMES: Final[dict[type[SessionEvent], str]] = {
    TurnStarted: "turn/start",
    TurnEnded: "turn/end",
    StepStarted: "step/start",
    StepEnded: "step/end",
    UserMessage: "user/message",
    PromptBlocked: "prompt/blocked",
    ContextMessage: "context/message",
    SteeringMessage: "steering/message",
    RequestHeader: "request/header",
    AssistantMessage: "assistant/message",
    PartialMessage: "assistant/partial",
    ToolCalled: "tool/call",
    ToolResulted: "tool/result",
    CustomEvent: "custom",
}
_CLASSES: Final = {name: kind for kind, name in _NAMES.items()}


class LogFormatError(AgentError):
    """Bytes that are no log; ``line`` counts from 1, the header's line."""

    code = "CORRUPT_LOG"

    def __init__(self, source: str, line: int, problem: str) -> None:
        super().__init__(f"{source}:{line}: {problem}")
        self.source, self.line = source, line


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedLog:
    """A log read back: ``header``, ``events``, and how many bytes of the input they took.

    Where ``size`` is less than the input's length, the rest is a torn last line, left out; where
    ``unterminated`` is true, the last line is whole but for its line end.
    """

    header: SessionHeader
    events: tuple[SessionEvent, ...]
    size: int
    unterminated: bool = False


def encode_header(header: SessionHeader) -> bytes:
    """The first line of a log."""
    data = cast(dict[str, object], write_shape(header))
    return _line({"type": "session", "version": SESSION_FORMAT_VERSION, **data})


def encode_event(seq: int, event: SessionEvent) -> bytes:
    """The line of event number *seq*."""
    data = write_shape(event, without="time")
    return _line({"seq": seq, "time": event.time, "type": _NAMES[type(event)], "data": data})


def _line(data: dict[str, object]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def decode_header(line: bytes, *, source: str = "log") -> SessionHeader:
    """The header in the first line of a log.

    Raises:
      LogFormatError: it is none, or of a format that this code does not know.
    """
    data = _object(line, source, 1)
    if data.pop("type", None) != "session":
        raise LogFormatError(source, 1, "is no session header")
    version = data.pop("version", None)
    if version != SESSION_FORMAT_VERSION or isinstance(version, bool):
        known = SESSION_FORMAT_VERSION
        raise LogFormatError(source, 1, f"has format version {version!r}; known is {known}")
    return cast(SessionHeader, _shape(SessionHeader, data, source, 1))


def decode_log(data: bytes, *, source: str = "log") -> DecodedLog:
    """Read a whole log back.

    A last line without its line end is kept if it is whole, else dropped with a warning: it was
    being written when the writer ended. Anything else that is not as written is refused. Whether
    the events are a legal log is ``check_log``'s matter.

    Args:
      data: the bytes of the log.
      source: how messages call it; a file name.

    Raises:
      LogFormatError: a line is damaged or missing, or the format is unknown.
    """
    *lines, tail = data.split(b"\n")
    if not lines:
        raise LogFormatError(source, 1, "has no whole header; nothing was ever committed")
    header = decode_header(lines[0], source=source)
    events = [_event(line, seq, source) for seq, line in enumerate(lines[1:])]
    size, unterminated = len(data) - len(tail), False
    if tail:
        last = _tail(tail, len(events), source)
        if last is not None:
            events.append(last)
            size, unterminated = len(data), True
    return DecodedLog(header=header, events=tuple(events), size=size, unterminated=unterminated)


def _tail(tail: bytes, seq: int, source: str) -> SessionEvent | None:
    """The event of a last line without its line end; ``None`` where it is torn.

    A torn object is never whole JSON, and a whole one is judged like any other line.
    """
    try:
        _object(tail, source, seq + 2)
    except LogFormatError as exc:
        logger.warning("dropped a torn last line of %d bytes: %s", len(tail), exc)
        return None
    return _event(tail, seq, source)


def _event(line: bytes, seq: int, source: str) -> SessionEvent:
    number = seq + 2  # counted from 1, after the header
    data = _object(line, source, number)
    if set(data) != {"seq", "time", "type", "data"}:
        raise LogFormatError(source, number, "is no event: it needs seq, time, type and data")
    if data["seq"] != seq or isinstance(data["seq"], bool):
        raise LogFormatError(source, number, f"has event {data['seq']!r} where {seq} is expected")
    kind = _CLASSES.get(data["type"]) if isinstance(data["type"], str) else None
    if kind is None:
        raise LogFormatError(source, number, f"has an unknown event type {data['type']!r}")
    if not isinstance(data["data"], dict):
        raise LogFormatError(source, number, "has data that is no object")
    fields = {**cast(dict[str, object], data["data"]), "time": data["time"]}
    return cast(SessionEvent, _shape(kind, fields, source, number))


def _object(line: bytes, source: str, number: int) -> dict[str, object]:
    try:
        data: object = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as exc:
        raise LogFormatError(source, number, f"is not JSON: {exc}") from exc
    if not isinstance(data, dict):
        raise LogFormatError(source, number, "is no JSON object")
    return cast(dict[str, object], data)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _shape(kind: type, data: dict[str, object], source: str, number: int) -> object:
    try:
        return read_shape(kind, data, "data")
    except (ShapeError, JsonValueError) as exc:
        raise LogFormatError(source, number, str(exc)) from exc
