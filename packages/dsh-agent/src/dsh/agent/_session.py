"""The session log: append-only, its derived messages always at hand, its prefix shared.

Next: ``_check.py``, what makes a log legal; ``_sink.py``, who keeps it; ``_agent.py``, who writes.
"""

import logging
from collections.abc import Sequence
from typing import Final, final

import trio

from dsh.agent._chain import Chain
from dsh.agent._check import SessionInvariantError, check_log
from dsh.agent._derive import derived_message
from dsh.agent._errors import AgentError
from dsh.agent._events import EVENT_TYPES, RequestHeader, SessionEvent, TurnEnded
from dsh.agent._ids import SessionId
from dsh.agent._lineage import SessionHeader
from dsh.agent._messages import Message
from dsh.agent._sink import SessionSink, SessionStore

__all__ = ["OpenTurnError", "ReentrantAppendError", "SeedError", "Session", "SessionPrefix"]

logger = logging.getLogger("dsh.agent")

_LOGS_ONLY: Final = object()
_SCRATCH: Final = SessionHeader(id=SessionId("a seed being checked"))


class SeedError(AgentError):
    """A seed is not a legal log, or not as long as the header says; no session was made.

    ``seq`` is the first event that breaks a rule, where it is an event that does.
    """

    code = "INVALID_SEED"

    def __init__(self, message: str, *, seq: int | None = None) -> None:
        super().__init__(message)
        self.seq = seq


class OpenTurnError(SeedError):
    """A seed ends inside a turn: only completed turns can be inherited."""

    code = "OPEN_TURN"


class ReentrantAppendError(AgentError):
    """An event was appended while another one was being handed to the log's sink."""

    code = "REENTRANT_APPEND"


@final
class SessionPrefix:
    """A log's completed ``turns``, shared with it rather than copied; only a log makes one.

    It keeps its ``events`` and ``messages`` alive for as long as it lives itself. Being made by a
    log it is trusted: a session seeded with it neither copies nor checks anything.
    """

    __slots__ = ("events", "header", "messages", "turns")

    def __init__(
        self,
        key: object,
        *,
        events: Chain[SessionEvent],
        messages: Chain[Message],
        turns: int,
        header: RequestHeader | None,
    ) -> None:
        if key is not _LOGS_ONLY:
            raise TypeError("only a log makes a SessionPrefix; pass the events themselves as seed")
        self.events = events
        self.messages = messages
        self.turns = turns
        self.header = header
        """The last request header logged before the boundary."""

    def __repr__(self) -> str:
        return f"<SessionPrefix: turns={self.turns} events={len(self.events)}>"


@final
class Session:
    """An append-only log of ``turns`` turns. An event's number is its index, inherited ones first.

    Args:
      header: where the log comes from; its ``seed_length`` is the length of *seed*.
      seed: what is inherited: another log's ``completed_prefix()``, taken over in constant time,
        or any other sequence of events, copied and checked in full.
      sink: who keeps the log; it is told of every own event, and closed by ``aclose``.

    Raises:
      SeedError: the seed is not a legal log, ends in an open turn, or has another length.
    """

    __slots__ = (
        "_closed_events",
        "_closed_header",
        "_closed_messages",
        "_header",
        "_messages",
        "_own",
        "_publishing",
        "_seed",
        "_sink",
        "header",
        "turns",
    )

    # Invariant: the first _closed_events of _own end with a TurnEnded, or are none; they derive
    # the first _closed_messages of _messages, and _closed_header is the header valid after them.

    def __init__(
        self,
        header: SessionHeader,
        *,
        seed: SessionPrefix | Sequence[SessionEvent] | None = None,
        sink: SessionSink | None = None,
    ) -> None:
        if seed is not None and not isinstance(seed, SessionPrefix):
            seed = _checked(seed)
        length = len(seed.events) if seed is not None else 0
        if header.seed_length != length:
            raise SeedError(
                f"the header's seed_length is {header.seed_length}, the seed's length is {length}"
            )
        self.header = header
        self.turns = seed.turns if seed is not None else 0
        self._seed = seed
        self._sink = sink
        self._own: list[SessionEvent] = []
        self._messages: list[Message] = []
        self._header = self._closed_header = seed.header if seed is not None else None
        self._closed_events = self._closed_messages = 0
        self._publishing = False

    @classmethod
    def resumed(
        cls,
        header: SessionHeader,
        events: Sequence[SessionEvent],
        *,
        sink: SessionSink | None = None,
    ) -> "Session":
        """The session whose log so far is *events*, inherited ones first; it goes on from there.

        The events are copied and checked in full; *sink* is told of the later ones only.

        Raises:
          SeedError: the events are not a legal log, or end in an open turn (close it with
            ``interrupted_turn_closers``), or the inherited part does.
        """
        _checked(events)
        session = cls(header, seed=events[: header.seed_length])
        for event in events[header.seed_length :]:
            session.append(event)
        session._sink = sink
        return session

    def keep_in(self, store: SessionStore) -> None:
        """Have *store* keep this log, from its first event on; it is closed by ``aclose``.

        Whoever creates a session in steps calls this last, when nothing can fail any more.

        Raises:
          HarnessError: the store has a log of this id; nothing changed.
        """
        sink = store.create(self.header, self._view(0))
        for event in self._own:
            sink.append(event)
        self._sink = sink

    def append(self, event: SessionEvent) -> int:
        """Commit *event* and return its sequence number.

        Constant in the length of the log. The order of events is not checked here but by
        ``check_log``, so that checking can change nothing.

        Raises:
          TypeError: *event* is none of the classes of ``SessionEvent``; nothing changed.
          ReentrantAppendError: called by the sink, from its own ``append``; nothing changed.
        """
        if type(event) not in EVENT_TYPES:
            raise TypeError(f"a {type(event).__name__} is no session event; see CustomEvent")
        if self._publishing:
            raise ReentrantAppendError("a sink cannot append to the log whose event it is handed")
        message = derived_message(event)
        self._own.append(event)
        if message is not None:
            self._messages.append(message)
        elif isinstance(event, RequestHeader):
            self._header = event
        elif isinstance(event, TurnEnded):
            self.turns = event.turn
            self._closed_events = len(self._own)
            self._closed_messages = len(self._messages)
            self._closed_header = self._header
        if self._sink is not None:
            self._publish(self._sink, event)
        return self.header.seed_length + len(self._own) - 1

    def _publish(self, sink: SessionSink, event: SessionEvent) -> None:
        self._publishing = True
        try:
            sink.append(event)
        except Exception:  # a sink is foreign code
            logger.exception("the sink of session %s refused an event", self.header.id)
        finally:
            self._publishing = False

    async def flush(self) -> None:
        """Make the log so far durable; without a sink there is nothing to do, and no checkpoint.

        A cancelled caller does not stop it, since a turn ended by cancellation is written down
        too: how long it takes is the sink's matter. It raises what the sink raises; the log
        itself, and the outcome of a turn, are not touched by that.
        """
        if self._sink is not None:
            with trio.CancelScope(shield=True):
                await self._sink.flush()

    async def aclose(self) -> None:
        """Flush and close the sink, as ``flush`` does; later appends are no longer kept."""
        sink, self._sink = self._sink, None
        if sink is not None:
            with trio.CancelScope(shield=True):
                await sink.aclose()

    @property
    def events(self) -> Chain[SessionEvent]:
        """Every event up to now, inherited ones first; a view made in constant time."""
        return self._view(len(self._own))

    def _view(self, length: int) -> Chain[SessionEvent]:
        if self._seed is None:
            return Chain((self._own, length))
        return self._seed.events.followed_by(self._own, length)

    @property
    def own_events(self) -> Sequence[SessionEvent]:
        """The events after the seed."""
        return Chain((self._own, len(self._own)))

    @property
    def messages(self) -> Chain[Message]:
        """The conversation up to now as a model sees it; a view made in constant time."""
        return self._conversation(len(self._messages))

    def _conversation(self, length: int) -> Chain[Message]:
        if self._seed is None:
            return Chain((self._messages, length))
        return self._seed.messages.followed_by(self._messages, length)

    @property
    def request_header(self) -> RequestHeader | None:
        """The last request header logged, inherited ones included; each one is complete."""
        return self._header

    def completed_prefix(self) -> SessionPrefix | None:
        """The log through its last completed turn, in constant time; ``None`` before the first."""
        if not self._closed_events:
            return self._seed
        return SessionPrefix(
            _LOGS_ONLY,
            events=self._view(self._closed_events),
            messages=self._conversation(self._closed_messages),
            turns=self.turns,
            header=self._closed_header,
        )

    def __repr__(self) -> str:
        return f"<Session {self.header.id}: turns={self.turns} events={len(self.events)}>"


def _checked(events: Sequence[SessionEvent]) -> SessionPrefix | None:
    """Copy *events* into a log of their own and return all of it as a prefix.

    Raises:
      SeedError: they are not a legal log, or end in an open turn.
    """
    copied = tuple(events)
    try:
        check_log(copied)
    except SessionInvariantError as exc:
        raise SeedError(f"not a legal log: {exc}", seq=exc.seq) from exc
    log = Session(_SCRATCH)
    for event in copied:
        log.append(event)
    prefix = log.completed_prefix()
    if len(copied) != (len(prefix.events) if prefix is not None else 0):
        raise OpenTurnError(
            f"the seed ends inside turn {log.turns + 1}; pass a completed_prefix(), or close the "
            "turn with interrupted_turn_closers()"
        )
    return prefix
