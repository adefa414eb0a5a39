"""The directory of a host's logs: new ones, and those of yesterday.

Next: ``_sink.py`` (a log as it grows), ``_recovery.py`` (a log read back), ``_file.py``.
"""

import logging
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import Session, SessionEvent, SessionHeader, SessionId, SessionStore
from dsh.session_jsonl._errors import SessionExistsError, SessionLockedError
from dsh.session_jsonl._file import LogFile, prepare_directory
from dsh.session_jsonl._names import file_name
from dsh.session_jsonl._recovery import list_headers, recover
from dsh.session_jsonl._sink import JsonlSink

__all__ = ["JsonlSessions", "open_sessions"]

logger = logging.getLogger("dsh.session_jsonl")


@asynccontextmanager
async def open_sessions(
    root: str | os.PathLike[str], *, fsync: bool = False
) -> AsyncGenerator["JsonlSessions"]:
    """The logs in the directory *root*, which is made if need be.

    Leaving flushes and closes every log that is still open. What fails then is raised, as a group
    if it is more than one log's; where the block itself has failed it is only logged.

    Args:
      root: the directory; one file per session.
      fsync: wait at each flush until the disk has the data. Without it a flushed log survives
        the end of the process, but not of the machine's power.

    Raises:
      StoreDirectoryError: the directory cannot be made or written to.
    """
    directory = await trio.to_thread.run_sync(prepare_directory, root)
    sessions = JsonlSessions(directory, fsync=fsync)
    try:
        yield sessions
    except BaseException:  # passed on, once the logs are closed
        for error in await sessions.drain():
            logger.exception("a log could not be closed", exc_info=error)
        raise
    errors = await sessions.drain()
    if len(errors) > 1:
        raise ExceptionGroup("logs that could not be closed", errors)
    if errors:
        raise errors[0]


@final
class JsonlSessions:
    """The logs of one directory, ``root``, one writer each; made by ``open_sessions``."""

    def __init__(self, root: Path, *, fsync: bool) -> None:
        self.root = root
        self._fsync = fsync
        self._open: dict[Path, JsonlSink] = {}

    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> JsonlSink:
        """The sink of a new log that begins with the inherited events *seed*.

        No file is made before the first own event is flushed; the seed is copied into it then.

        Raises:
          SessionExistsError: there is a log of that id, or one being started; nothing changed.
        """
        path = self._path(header.id)
        if path in self._open or path.exists():
            raise SessionExistsError(header.id, path)
        sink = self._sink(path)
        sink.begin_with(header, seed)
        self._open[path] = sink
        return sink

    async def resume(self, id: SessionId) -> Session:
        """The session *id*, to go on with: its log is repaired and grows in its file.

        The session is yours to close (``aclose``), as is that of a new log.

        Raises:
          SessionNotFoundError: there is no such log.
          SessionLockedError: somebody is writing it.
          LogFormatError: its file is damaged; it was not touched.
        """
        path = self._path(id)
        if path in self._open:
            raise SessionLockedError(path)
        sink = self._sink(path)
        session = await trio.to_thread.run_sync(self._recovered, id, sink)
        self._open[path] = sink
        return session

    async def load(self, id: SessionId) -> Session:
        """The session *id*, to look at: repaired as by ``resume``, but its file is let go.

        Raises:
          As ``resume``.
        """
        path = self._path(id)
        if path in self._open:
            raise SessionLockedError(path)
        return await trio.to_thread.run_sync(self._recovered, id, None)

    def _recovered(self, id: SessionId, sink: JsonlSink | None) -> Session:
        """The session in its file, which *sink* goes on with; without one it is closed."""
        file = LogFile.open(id, self._path(id), fsync=self._fsync)
        try:
            session = recover(id, file, sink)
        except BaseException:  # undone, and passed on
            file.close()
            raise
        if sink is None:
            file.close()
        else:
            sink.continue_in(file, len(session.events))
        return session

    async def list(self) -> tuple[SessionHeader, ...]:
        """The header of every log, oldest first; nothing but first lines is read.

        A file that cannot be read or has no header is skipped with a warning.
        """
        return await trio.to_thread.run_sync(list_headers, self.root)

    def _path(self, id: SessionId) -> Path:
        return self.root / file_name(id)

    def _sink(self, path: Path) -> JsonlSink:
        return JsonlSink(path, fsync=self._fsync, on_closed=self._forget)

    def _forget(self, sink: JsonlSink) -> None:
        del self._open[sink.path]

    async def drain(self) -> Sequence[Exception]:
        """Flush and close every open log, even when cancelled; what failed is returned."""
        errors: list[Exception] = []
        with trio.CancelScope(shield=True):
            for sink in tuple(self._open.values()):
                try:
                    await sink.aclose()
                except Exception as exc:  # noqa: BLE001 - collected: one log must not keep the next open
                    errors.append(exc)
        return errors


if TYPE_CHECKING:
    _: type[SessionStore] = JsonlSessions
