"""Session logs as JSON lines on disk: written as they grow, loaded and repaired again.

Read ``_store`` (what a host opens), ``_sink`` (a log as it grows), ``_recovery`` (a log read
back), then ``_file`` and ``_names``. The bytes themselves are ``dsh.agent``'s codec.
"""

from dsh.session_jsonl._errors import (
    SessionExistsError,
    SessionLockedError,
    SessionNotFoundError,
    SessionStoreError,
    StoreDirectoryError,
)
from dsh.session_jsonl._sink import JsonlSink
from dsh.session_jsonl._store import JsonlSessions, open_sessions

__all__ = [
    "JsonlSessions",
    "JsonlSink",
    "SessionExistsError",
    "SessionLockedError",
    "SessionNotFoundError",
    "SessionStoreError",
    "StoreDirectoryError",
    "open_sessions",
]
