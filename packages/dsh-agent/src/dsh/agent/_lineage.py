"""Where a session log comes from: its header.

Next: ``_session.py``, the log itself.
"""

import os
import time
from dataclasses import dataclass, field
from typing import final

from dsh.agent._errors import AgentError
from dsh.agent._fields import require_count, require_text, require_text_or_none
from dsh.agent._ids import SessionId

__all__ = ["SessionHeader", "SessionHeaderError"]


class SessionHeaderError(AgentError):
    """A header's value is out of range; ``field`` names it."""

    code = "INVALID_HEADER"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(f"session header: {field} {message}")
        self.field = field


def _now() -> int:
    return time.time_ns() // 1_000_000


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Where the log ``id`` comes from: ``parent_session`` is the log of the parent.

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
        require_text(self, "id", self.id)
        require_text_or_none(self, "cwd", self.cwd)
        require_text_or_none(self, "parent_session", self.parent_session)
        require_count(self, "seed_length", self.seed_length)
        require_count(self, "created_at", self.created_at)
        if not self.id or self.parent_session == "":
            raise SessionHeaderError("is empty", field="parent_session" if self.id else "id")
        if self.seed_length < 0 or self.created_at < 0:
            field = "created_at" if self.created_at < 0 else "seed_length"
            raise SessionHeaderError("is negative", field=field)
        if self.cwd is not None and not os.path.isabs(self.cwd):
            raise SessionHeaderError(f"is {self.cwd!r}, which is not absolute", field="cwd")
