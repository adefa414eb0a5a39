"""Server-sent events, decoded byte by byte as they come."""

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from dsh.agent._model import ModelError

__all__ = ["EventDecoder", "ServerSentEvent"]

MAX_EVENT: Final = 16 * 1024 * 1024
"""How many bytes an event may have; a stream that never ends one would fill the memory."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSentEvent:
    """One event: its ``name`` (``message`` where the stream gives none) and its ``data``."""

    name: str
    data: str


@final
class EventDecoder:
    """Feed it bytes, get the events they complete.

    Lines end at a line feed, a carriage return or both, and nowhere else: other Unicode line breaks
    are data. An event that no blank line completes is none (HTML Living Standard, "Parsing an event
    stream"). Bytes that are not UTF-8 are replaced.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self._held = 0
        self._begun = False

    def feed(self, chunk: bytes) -> Iterator[ServerSentEvent]:
        """The events that *chunk* completes, in order.

        Raises:
          ModelError: an event has more than 16 MiB (``MALFORMED_RESPONSE``).
        """
        self._held += len(chunk)
        if self._held > MAX_EVENT:
            raise ModelError(
                f"the answer carries an event of more than {MAX_EVENT} bytes",
                code="MALFORMED_RESPONSE",
            )
        for line in self._lines(chunk):
            if (event := self._line(line)) is not None:
                self._held = len(self._rest)
                yield event

    def _lines(self, chunk: bytes) -> Iterator[str]:
        buffer = self._rest + chunk
        if not self._begun and len(buffer) >= len(codecs.BOM_UTF8):
            self._begun, buffer = True, buffer.removeprefix(codecs.BOM_UTF8)
        held = b"\r" if buffer.endswith(b"\r") else b""  # half of a \r\n, perhaps
        text = buffer[: len(buffer) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = rest + held
        return (line.decode(errors="replace") for line in lines)

    def _line(self, line: str) -> ServerSentEvent | None:
        if not line:
            name, data = self._name or "message", self._data
            self._name, self._data = "", []
            return ServerSentEvent(name=name, data="\n".join(data)) if data else None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None
