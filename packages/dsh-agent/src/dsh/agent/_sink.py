"""Where a log goes while it grows: the seam to whatever keeps it.

``dsh.session_jsonl`` fills it in with files; a host may bring its own.
"""

from collections.abc import Sequence
from typing import Protocol

from dsh.agent._events import SessionEvent
from dsh.agent._lineage import SessionHeader

__all__ = ["SessionSink", "SessionStore"]


class SessionSink(Protocol):
    """Keeps one log. Whoever made the ``Session`` around it closes it, through the session."""

    def append(self, event: SessionEvent, /) -> None:
        """Take note of *event*, which is already part of the log.

        Cheap and without I/O: events are buffered here and written by ``flush``. What it raises
        is logged and changes nothing.
        """
        ...

    async def flush(self) -> None:
        """Make everything appended so far durable, all or nothing.

        On failure the buffer is kept, so that the next flush tries again.
        """
        ...

    async def aclose(self) -> None:
        """Flush, and let go of the log; closing again does nothing."""
        ...


class SessionStore(Protocol):
    """Makes the sinks of a host's new logs."""

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> SessionSink:
        """The sink of a new log that begins with the inherited events *seed*.

        Nothing is written before the first append is flushed.

        Raises:
          HarnessError: a log of that id exists; nothing changed.
        """
        ...
