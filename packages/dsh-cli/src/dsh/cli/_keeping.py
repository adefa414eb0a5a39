"""Logs as a run writes them, and whether they were kept.

The loop goes on where a log cannot be written, and tries again at the next flush: what counts is
whether the whole log was kept when its agent closed it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from dsh.agent import SessionEvent, SessionHeader, SessionId, SessionSink, SessionStore

__all__ = ["Keeping"]


@final
class Keeping:
    """The logs of *store*; ``lost`` says of each that was not kept whole why not."""

    def __init__(self, store: SessionStore) -> None:
        self.lost: dict[SessionId, str] = {}
        self._store = store

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> SessionSink:
        """The sink of a new log, as the store has it."""
        return _Sink(self._store.create(header, seed), header.id, self.lost)


@final
class _Sink:
    def __init__(self, sink: SessionSink, id: SessionId, lost: dict[SessionId, str]) -> None:
        self._sink = sink
        self._id = id
        self._lost = lost
        self.append = sink.append
        self.flush = sink.flush

    async def aclose(self) -> None:
        try:
            await self._sink.aclose()
        except Exception as exc:  # noted, and passed on
            reason = exc.strerror if isinstance(exc, OSError) else None
            self._lost[self._id] = reason or str(exc) or type(exc).__name__
            raise


if TYPE_CHECKING:
    _: type[SessionStore] = Keeping
    _sink: type[SessionSink] = _Sink
