"""What this package refuses. Damage inside a file is ``dsh.agent.LogFormatError``."""

from pathlib import Path

from dsh.agent import HarnessError, SessionId

__all__ = [
    "SessionExistsError",
    "SessionLockedError",
    "SessionNotFoundError",
    "SessionStoreError",
    "StoreDirectoryError",
]


class SessionStoreError(HarnessError):
    """Base of what ``dsh.session_jsonl`` refuses."""


class SessionNotFoundError(SessionStoreError):
    """There is no log of that id; any other trouble with its file surfaces as it is."""

    code = "SESSION_NOT_FOUND"

    def __init__(self, id: SessionId, path: Path) -> None:
        super().__init__(f"no session {id!r}: there is no file {path}")
        self.id, self.path = id, path


class SessionExistsError(SessionStoreError):
    """A new log has the id of an existing one; nothing changed."""

    code = "SESSION_ALREADY_EXISTS"

    def __init__(self, id: SessionId, path: Path) -> None:
        super().__init__(f"session {id!r} exists, in {path}: resume it, or choose another id")
        self.id, self.path = id, path


class SessionLockedError(SessionStoreError):
    """Somebody, here or in another process, is writing the log ``path``; nothing changed."""

    code = "SESSION_LOCKED"

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} is being written already; a log has one writer at a time")
        self.path = path


class StoreDirectoryError(SessionStoreError):
    """The directory of the logs, ``path``, cannot be made or written to."""

    code = "STORE_DIRECTORY"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"logs cannot be kept in {path}: {reason}")
        self.path = path
