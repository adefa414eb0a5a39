"""Where a session log comes from: its header.

Next: ``_session.py``, the log itself.
"""

import os
import time
from dataclasses import dataclass, field
from typing import final

from dsh.agent._errors import AgentError
from dsh.agent._ids import SessionId

__all__ = ["SessionHeader", "SessionHeaderError"]


class SessionHeaderError(AgentError):
    """A header's value is out of range; ``field`` names it."""

    code = "INVALID_HEADER"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(f"session header: {field} {message}")
        self.field = field


def _require_name(field: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(f"session header: {field} is a {type(value).__name__}, not a str")
    if not value:
        raise SessionHeaderError("is empty", field=field)


def _require_count(field: str, value: object) -> None:
    if type(value) is not int:
        raise TypeError(f"session header: {field} is a {type(value).__name__}, not an int")
    if value < 0:
        raise SessionHeaderError(f"is {value}; it cannot be negative", field=field)


def _now() -> int:
    return time.time_ns() // 1_000_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Where a log comes from.

    Raises:
      TypeError: a field is of the wrong type.
      SessionHeaderError: the id is empty, the directory is not absolute, a number is negative.
    """

    id: SessionId
    cwd: str | None = None
    """The absolute directory the agent works in."""
    parent_session: SessionId | None = None
    seed_length: int = 0
    """How many of the first events were inherited; the rest are the session's own."""
    created_at: int = field(default_factory=_now)
    """Milliseconds since the epoch."""

    def __post_init__(self) -> None:
        _require_name("id", self.id)
        if self.parent_session is not None:
            _require_name("parent_session", self.parent_session)
        _require_count("seed_length", self.seed_length)
        _require_count("created_at", self.created_at)
        if self.cwd is not None:
            _require_name("cwd", self.cwd)
            if not os.path.isabs(self.cwd):
                raise SessionHeaderError(f"is {self.cwd!r}, which is not absolute", field="cwd")
