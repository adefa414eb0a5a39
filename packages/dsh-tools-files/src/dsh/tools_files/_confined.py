"""One directory, and no way out of it.

A path is walked one name at a time, each opened relative to the open directory above it and never
through a symbolic link. What a check saw is therefore what is read, whatever else is renamed or
linked meanwhile: there is no path that the system resolves for us.
"""

import errno
import json
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, final

from dsh.tools_files._errors import FileToolsError

__all__ = ["ConfinedDirectory", "Entry"]

MAX_DEPTH: Final = 64
"""How many directories a walk has open at once."""

_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Non-blocking, so that a pipe put where a file was cannot hold up the open."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """Something in a directory, seen while that was open."""

    path: str
    """From the confined directory, with slashes."""
    name: str
    status: os.stat_result
    directory_fd: int
    """The directory it is in; open only until the walk goes on."""
    is_skipped: bool = False
    """A directory that the walk should enter and cannot: not readable, changed, or too deep."""

    @property
    def shown(self) -> str:
        """The path on one line: as JSON where a name is odd, and could pass for more than one."""
        return self.path if self.path.isprintable() else json.dumps(self.path)

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory, and no link to one."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file: no link, device, pipe or socket."""
        return stat.S_ISREG(self.status.st_mode)


@final
class ConfinedDirectory:
    """The files under *directory*, which must exist; links in its own path are followed once, now.

    Raises:
      NotADirectoryError, FileNotFoundError: *directory* is no directory.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.root = Path(directory).resolve(strict=True)
        if not self.root.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(self.root))

    @contextmanager
    def file(self, path: str) -> Generator[BinaryIO]:
        """The regular file at *path*, open for reading.

        Raises:
          FileToolsError: there is none, or none that may be read.
        """
        *above, name = _names(path) or ("",)
        if not name:
            raise _refused(path, "names a directory, not a file")
        with self._opened(above, path) as directory_fd:
            file = open_file(name, directory_fd, path)
        with file:
            yield file

    def walk(self, path: str, *, recursive: bool) -> Iterator[Entry]:
        """What is in the directory at *path*, by name; where *recursive*, below it as well.

        A directory that cannot be entered, or lies deeper than ``MAX_DEPTH``, comes as an entry
        that says so.

        Raises:
          FileToolsError: there is no such directory, or none that may be read.
        """
        names = _names(path)
        with self._opened(names, path) as directory_fd:
            yield from _entries(directory_fd, "/".join(names), MAX_DEPTH if recursive else None)

    @contextmanager
    def _opened(self, names: list[str] | tuple[str, ...], path: str) -> Generator[int]:
        directory_fd = os.open(self.root, _DIRECTORY)
        try:
            for name in names:
                with _explained(path, name, directory_fd):
                    below_fd = os.open(name, _DIRECTORY, dir_fd=directory_fd)
                os.close(directory_fd)
                directory_fd = below_fd
            yield directory_fd
        finally:
            os.close(directory_fd)


def open_file(name: str, directory_fd: int, path: str) -> BinaryIO:
    """The regular file *name* of an open directory; the caller closes it.

    Raises:
      FileToolsError: it is none, or may not be read.
    """
    with _explained(path, name, directory_fd):
        # Looked at first, because opening a device can already do something.
        _require_file(os.stat(name, dir_fd=directory_fd, follow_symlinks=False), path)
        file_fd = os.open(name, _FILE, dir_fd=directory_fd)
    try:
        _require_file(os.fstat(file_fd), path)
        return os.fdopen(file_fd, "rb")
    except BaseException:  # closed, and passed on
        os.close(file_fd)
        raise


def _entries(directory_fd: int, prefix: str, depth: int | None) -> Iterator[Entry]:
    """The entries of an open directory; of *depth* levels of them, or not recursively."""
    for name in sorted(os.listdir(directory_fd)):
        try:
            status = os.stat(name, dir_fd=directory_fd, follow_symlinks=False)
        except FileNotFoundError:  # gone since it was listed
            continue
        path = f"{prefix}/{name}" if prefix else name
        entry = Entry(path=path, name=name, status=status, directory_fd=directory_fd)
        if entry.is_directory and depth is not None:
            yield from _entered(entry, depth - 1)
        else:
            yield entry


def _entered(entry: Entry, depth: int) -> Iterator[Entry]:
    try:
        if not depth:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        below_fd = os.open(entry.name, _DIRECTORY, dir_fd=entry.directory_fd)
    except OSError:
        yield replace(entry, is_skipped=True)
        return
    try:
        yield entry
        yield from _entries(below_fd, entry.path, depth)
    finally:
        os.close(below_fd)


def _names(path: str) -> tuple[str, ...]:
    if path.startswith("/"):
        raise _refused(path, "is absolute; give a path relative to the directory, like 'src/a.py'")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise _refused(path, "leads upwards; give a path without '..'")
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise _refused(path, "holds a character that no file name has")
    return names


def _require_file(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise _refused(path, "is a symbolic link, and links are not followed")
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "no regular file"
        raise FileToolsError(f"{path!r} is {kind}", code="NOT_READABLE")


def _refused(path: str, problem: str) -> FileToolsError:
    return FileToolsError(f"the path {path!r} {problem}", code="PATH_REFUSED")


@contextmanager
def _explained(path: str, name: str, directory_fd: int) -> Generator[None]:
    """Turn what the system says about *name*, a step on the way of *path*, into a refusal."""
    try:
        yield
    except FileNotFoundError as exc:
        raise FileToolsError(f"there is no {path!r}", code="NOT_FOUND") from exc
    except OSError as exc:
        if _is_link(name, directory_fd):
            raise _refused(
                path, f"goes through the link {name!r}, and links are not followed"
            ) from exc
        reason = os.strerror(exc.errno) if exc.errno else str(exc)
        raise FileToolsError(f"{path!r} cannot be read: {reason}", code="NOT_READABLE") from exc


def _is_link(name: str, directory_fd: int) -> bool:
    try:
        status = os.stat(name, dir_fd=directory_fd, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode)
