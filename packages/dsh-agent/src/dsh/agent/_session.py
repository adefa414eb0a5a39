"""The session log: append-only, its derived messages always at hand, its prefix shared.

Next: ``_agent.py``, who writes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from dsh.agent._chain import Chain
from dsh.agent._events import (
    AssistantMessage,
    ContextMessage,
    RequestHeader,
    SessionEvent,
    SteeringMessage,
    ToolResulted,
    TurnEnded,
    UserMessage,
)
from dsh.agent._ids import SessionId
from dsh.agent._messages import Message

__all__ = ["Session", "SessionHeader", "SessionPrefix"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHeader:
    """Where a log comes from."""

    id: SessionId
    cwd: str | None = None
    parent_session: SessionId | None = None
    seed_length: int = 0
    """How many of the first events were inherited; the rest are the session's own."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPrefix:
    """A log's completed turns, shared with it rather than copied; only a log makes one.

    It keeps the events it shows alive for as long as it lives itself.
    """

    events: Chain[SessionEvent]
    messages: Chain[Message]
    turns: int
    header: RequestHeader | None
    """The last request header logged before the boundary."""


@final
class Session:
    """One append-only log. An event's sequence number is its index, inherited events first."""

    __slots__ = ("_boundary", "_last_header", "_messages", "_own", "_seed", "header", "turns")

    # Invariant: self._boundary is None or it describes self._own up to its last TurnEnded

    def __init__(self, header: SessionHeader, *, seed: SessionPrefix | None = None) -> None:
        self.header = header
        self.turns = seed.turns if seed else 0
        self._seed = seed
        self._own: list[SessionEvent] = []
        self._messages: list[Message] = []
        self._last_header = seed.header if seed else None
        self._boundary = seed

    def append(self, event: SessionEvent) -> int:
        """Commit *event* and return its sequence number."""
        self._own.append(event)
        match event:
            case UserMessage() | ContextMessage() | SteeringMessage():
                self._messages.append(event.message)
            case AssistantMessage():
                if event.message.content:
                    self._messages.append(event.message)
            case ToolResulted():
                self._messages.append(Message(role="user", content=(event.result,), source="tool"))
            case RequestHeader():
                self._last_header = event
            case TurnEnded():
                self.turns = event.turn
                self._boundary = self._prefix()
            case _:
                pass
        return self.header.seed_length + len(self._own) - 1

    def _prefix(self) -> SessionPrefix:
        return SessionPrefix(
            events=self.events, messages=self.messages, turns=self.turns, header=self._last_header
        )

    @property
    def events(self) -> Chain[SessionEvent]:
        """Every event up to now, inherited ones first; a view made in constant time."""
        seed = self._seed.events if self._seed else Chain[SessionEvent]()
        return seed.followed_by(self._own, len(self._own))

    @property
    def own_events(self) -> Sequence[SessionEvent]:
        """The events after the seed."""
        return Chain((self._own, len(self._own)))

    @property
    def messages(self) -> Chain[Message]:
        """The conversation up to now as a model sees it; a view made in constant time."""
        seed = self._seed.messages if self._seed else Chain[Message]()
        return seed.followed_by(self._messages, len(self._messages))

    @property
    def request_header(self) -> RequestHeader | None:
        """The last request header logged, inherited ones included."""
        return self._last_header

    def completed_prefix(self) -> SessionPrefix | None:
        """The log through its last completed turn, in constant time; ``None`` before the first."""
        return self._boundary
