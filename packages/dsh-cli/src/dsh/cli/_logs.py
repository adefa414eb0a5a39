"""Logs in a directory, read without touching them."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from dsh.agent import DecodedLog, LogFormatError, SessionEvent, SessionHeader, decode_log
from dsh.cli._errors import BadInputError

__all__ = ["ARGUMENT", "SUFFIX", "Log", "log_files", "read_log", "read_logs"]

SUFFIX: Final = ".jsonl"
ARGUMENT: Final = "LOGDIR"

LATEST: Final = 253_402_300_799_999
"""The last millisecond of the year 9999: no clock that wrote a log was right beyond it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One agent's log, as it stands in its file."""

    path: Path
    header: SessionHeader
    events: tuple[SessionEvent, ...]
    """All of them, the inherited ones first."""
    torn: int
    """How many bytes at the end belong to no event: its writer was cut off."""

    @property
    def own_events(self) -> Sequence[SessionEvent]:
        """The events that are not inherited."""
        return self.events[self.header.seed_length :]


def log_files(directory: str) -> list[Path]:
    """The files of the logs in *directory*, by name.

    Raises:
      BadInputError: it is no directory, cannot be read, or has no logs.
    """
    if not os.path.isdir(directory):
        raise BadInputError(ARGUMENT, f"{directory!r} is no directory")
    try:
        found = [Path(directory, name) for name in sorted(os.listdir(directory))]
    except OSError as exc:
        raise BadInputError(ARGUMENT, f"{directory!r} cannot be read: {exc.strerror}") from exc
    found = [path for path in found if path.name.endswith(SUFFIX)]
    if not found:
        raise BadInputError(ARGUMENT, f"there are no logs (*{SUFFIX}) in {directory!r}")
    return found


def read_log(path: Path) -> Log:
    """The log in *path*. A last line that was torn off is left out.

    Raises:
      LogFormatError: it is no log, or damaged.
      BadInputError: it cannot be read, or has a time that no clock shows.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for
            raise BadInputError(ARGUMENT, f"{path} cannot be read: it is no regular file")
        data = path.read_bytes()
    except OSError as exc:
        raise BadInputError(ARGUMENT, f"{path} cannot be read: {exc.strerror}") from exc
    decoded: DecodedLog = decode_log(data, source=str(path))
    times = (decoded.header.created_at, *(event.time for event in decoded.events))
    if not all(0 <= time <= LATEST for time in times):
        raise BadInputError(ARGUMENT, f"{path} has a time that no clock shows")
    return Log(
        path=path,
        header=decoded.header,
        events=decoded.events,
        torn=len(data) - decoded.size,
    )


def read_logs(directory: str) -> list[Log]:
    """Every log in *directory*, oldest first.

    Raises:
      BadInputError: there are none, one cannot be read, or two are of the same session.
    """
    try:
        logs = [read_log(path) for path in log_files(directory)]
    except LogFormatError as exc:
        raise BadInputError(ARGUMENT, f"{exc}; dsh check says more") from exc
    files: dict[str, Path] = {}
    for log in logs:
        if (other := files.setdefault(log.header.id, log.path)) is not log.path:
            raise BadInputError(ARGUMENT, f"{other} and {log.path} are logs of the same session")
    return sorted(logs, key=lambda log: log.header.created_at)
