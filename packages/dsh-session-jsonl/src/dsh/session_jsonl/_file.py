"""One log's file, locked for one writer. Everything here blocks: it runs in a thread."""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import final

from dsh.agent import SessionId
from dsh.session_jsonl._errors import (
    SessionExistsError,
    SessionLockedError,
    SessionNotFoundError,
    StoreDirectoryError,
)

__all__ = ["LogFile", "prepare_directory"]


@final
class LogFile:
    """An open file that grows by whole batches; it is the only one open for its path."""

    # Invariant: the first ``size`` bytes are committed; what is after them is ours to cut off.

    def __init__(self, path: Path, descriptor: int, *, fsync: bool, created: bool) -> None:
        self.path = path
        self.size = os.fstat(descriptor).st_size
        self._created = created
        self._descriptor = descriptor
        self._fsync = fsync

    @classmethod
    def create(cls, id: SessionId, path: Path, *, fsync: bool) -> "LogFile":
        """A new, empty file that only its owner may read.

        Raises:
          SessionExistsError: it exists.
        """
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as exc:
            raise SessionExistsError(id, path) from exc
        return cls._locked(path, descriptor, fsync=fsync, created=True)

    @classmethod
    def open(cls, id: SessionId, path: Path, *, fsync: bool) -> "LogFile":
        """The existing file.

        Raises:
          SessionNotFoundError: there is none.
          SessionLockedError: it is open already.
        """
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError as exc:
            raise SessionNotFoundError(id, path) from exc
        return cls._locked(path, descriptor, fsync=fsync, created=False)

    @classmethod
    def _locked(cls, path: Path, descriptor: int, *, fsync: bool, created: bool) -> "LogFile":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return cls(path, descriptor, fsync=fsync, created=created)
        except BaseException as exc:  # undone, and passed on
            os.close(descriptor)
            if isinstance(exc, BlockingIOError):
                raise SessionLockedError(path) from exc
            if created:
                path.unlink()
            raise

    def read(self) -> bytes:
        """Everything committed."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            return file.read()

    def commit(self, data: bytes) -> None:
        """Append *data*, all of it or nothing.

        Raises:
          OSError: it could not be written; the file is as it was.
          FileNotFoundError: the file was removed: what is written to it nobody finds.
        """
        try:
            found = os.fstat(self._descriptor)
            if not found.st_nlink:
                raise FileNotFoundError(errno.ENOENT, "it was removed", str(self.path))
            if found.st_size != self.size:
                os.ftruncate(self._descriptor, self.size)
            self._write(data)
            if self._fsync:
                os.fsync(self._descriptor)
        except OSError:
            with suppress(OSError):  # the next commit cuts the rest off, should this fail too
                os.ftruncate(self._descriptor, self.size)
            raise
        self.size += len(data)

    def _write(self, data: bytes) -> None:
        rest, position = memoryview(data), self.size
        while rest:
            written = os.pwrite(self._descriptor, rest, position)
            rest, position = rest[written:], position + written

    def cut(self, size: int) -> None:
        """Keep only the first *size* bytes."""
        os.ftruncate(self._descriptor, size)
        self.size = size

    def close(self) -> None:
        """Unlock and close; a new file to which nothing was ever committed is removed."""
        try:
            if self._created and not self.size:
                self.path.unlink(missing_ok=True)
        finally:
            os.close(self._descriptor)


def prepare_directory(directory: str | os.PathLike[str]) -> Path:
    """Make *directory*, prove that files can be written there, and return its absolute path.

    Directories that are made here are their owner's alone; existing ones keep their mode.

    Raises:
      StoreDirectoryError: they cannot.
    """
    root = Path(directory)
    try:
        root = root.absolute()  # which fails where the working directory was removed
        probe = root / f".probe-{os.getpid()}"
        for each in (*reversed(root.parents), root):
            if not each.exists():
                each.mkdir(0o700, exist_ok=True)
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT, 0o600))
        probe.unlink()
    except OSError as exc:
        raise StoreDirectoryError(root, exc.strerror or str(exc)) from exc
    except ValueError as exc:  # a null byte, which no path has
        raise StoreDirectoryError(root, str(exc)) from exc
    return root
