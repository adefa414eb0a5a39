"""Writes one log as it grows: what was appended is buffered, and committed at each flush."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import SessionEvent, SessionHeader, SessionSink, encode_event, encode_header
from dsh.session_jsonl._file import LogFile

__all__ = ["JsonlSink"]


@final
class JsonlSink:
    """The writer of the log ``path``. ``dsh.agent.Session`` tells it of events, and closes it."""

    # Invariant: the file holds the events before number _seq, which is that of the first pending.

    def __init__(
        self,
        path: Path,
        *,
        fsync: bool,
        on_closed: Callable[["JsonlSink"], None],
    ) -> None:
        self.path = path
        self._fsync = fsync
        self._on_closed = on_closed
        self._beginning: tuple[SessionHeader, Sequence[SessionEvent]] | None = None
        self._pending: list[SessionEvent] = []
        self._seq = 0
        self._file: LogFile | None = None
        self._turn = trio.Lock()
        self._closed = False

    def begin_with(self, header: SessionHeader, seed: Sequence[SessionEvent]) -> None:
        """A new log: *header* and *seed* are written before the first own event."""
        self._beginning = header, seed

    def continue_in(self, file: LogFile, seq: int) -> None:
        """An existing log: *file* holds the events before number *seq*."""
        self._file, self._seq = file, seq

    def append(self, event: SessionEvent, /) -> None:
        """Take note of *event*; nothing is written before the next flush."""
        self._pending.append(event)

    async def flush(self) -> None:
        """Commit what has been appended; all of it or nothing, in the order of the calls.

        Raises:
          SessionExistsError: another writer made the file first.
          OSError: the file could not be written; what was appended is kept for the next flush.
        """
        async with self._turn:
            await self._flush()

    async def _flush(self) -> None:
        if self._pending:
            batch = tuple(self._pending)
            await trio.to_thread.run_sync(self._commit, batch)
            del self._pending[: len(batch)]

    def _commit(self, batch: Sequence[SessionEvent]) -> None:
        lines: list[bytes] = []
        if self._beginning is not None:
            header, seed = self._beginning
            lines.append(encode_header(header))
            batch = (*seed, *batch)
            if self._file is None:
                self._file = LogFile.create(header.id, self.path, fsync=self._fsync)
        assert self._file is not None
        lines += [encode_event(seq, event) for seq, event in enumerate(batch, start=self._seq)]
        self._file.commit(b"".join(lines))
        self._seq += len(batch)
        self._beginning = None

    async def aclose(self) -> None:
        """Flush, and let go of the file even if that fails; closing again does nothing."""
        async with self._turn:
            if self._closed:
                return
            self._closed = True
            try:
                await self._flush()
            finally:
                self._on_closed(self)
                if self._file is not None:
                    self._file.close()


if TYPE_CHECKING:
    _: type[SessionSink] = JsonlSink
