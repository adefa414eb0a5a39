"""What an agent is to everyone but its loop, and what one is made from.

The loop that runs agents is another package's (``dsh.agent_loop``, or a host's own); here are the
shapes it fills in.

Next: ``_registry.py``, where agents are created and found; ``_points.py``, where a plugin takes
part in their turns.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, final

import trio

from dsh.agent._errors import AgentError
from dsh.agent._events import RequestHeader, SessionEvent
from dsh.agent._fields import require, require_count
from dsh.agent._hooks import Hooks
from dsh.agent._ids import AgentId
from dsh.agent._messages import ContentBlock, Usage
from dsh.agent._model import ToolChoice
from dsh.agent._options import AgentOptions, InvalidAgentOptionsError
from dsh.agent._prompt import Prompt
from dsh.agent._session import Session, SessionPrefix
from dsh.agent._tools import ToolRegistry

__all__ = [
    "Agent",
    "AgentDisposedError",
    "AgentSpec",
    "AgentStatus",
    "DelegatedUsage",
    "SelfWaitError",
    "Setup",
]

_DEFAULTS: Final = AgentOptions()

AgentStatus: TypeAlias = Literal["idle", "running", "disposed"]
"""``idle`` and ``running`` alternate; ``disposed`` is for good (B-SES-39)."""


class AgentDisposedError(AgentError):
    """The agent ``id`` takes nothing: it has begun to end, or has no nursery yet in its setup."""

    code = "AGENT_DISPOSED"

    def __init__(self, id: AgentId) -> None:
        super().__init__(
            f"agent {id!r} is not open: it has ended, is about to, or is still being set up; "
            "use one that is"
        )
        self.id = id


class SelfWaitError(AgentError):
    """Something that the agent ``id`` runs waits for it, and so for itself; nothing changed."""

    code = "SELF_WAIT"

    def __init__(self, id: AgentId, what: str) -> None:
        super().__init__(
            f"{what} of agent {id!r} was awaited by one of the agent's own tasks, which would wait "
            "for itself; await it from outside the agent, or call cancel()"
        )
        self.id = id


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class DelegatedUsage:
    """What the child ``child_id`` cost, its own children included; its parent is told, and adds it.

    That is tokens (``usage``), ``model_requests`` and ``tool_calls``.
    """

    child_id: AgentId
    usage: Usage
    model_requests: int
    tool_calls: int


class Agent(Protocol):
    """A running agent: a session log, an inbox, a nursery and a layer of hooks, tools, prompt.

    It is also what a subagent backend needs of a parent (``dsh.subagent.DelegatingParent``).
    """

    @property
    def id(self) -> AgentId:
        """Unique among the live agents of its host."""
        ...

    @property
    def session(self) -> Session:
        """Its log."""
        ...

    @property
    def options(self) -> AgentOptions:
        """As in force: the host's defaults filled in."""
        ...

    @property
    def status(self) -> AgentStatus:
        """Whether a turn is open, none is, or it has begun to end."""
        ...

    @property
    def cwd(self) -> str | None:
        """Where its work lies, an absolute path; its children begin there too."""
        ...

    @property
    def depth(self) -> int:
        """How many delegations lie between this agent and the one a user talks to."""
        ...

    @property
    def nursery(self) -> trio.Nursery:
        """Where its children live, closed before it has ended; ``AgentDisposedError`` in setup."""
        ...

    @property
    def hooks(self) -> Hooks:
        """Its own layer, to register with; closed once the agent has ended, as the next two are."""
        ...

    @property
    def tools(self) -> ToolRegistry:
        """Its own layer of tools, over those of its host."""
        ...

    @property
    def prompt(self) -> Prompt:
        """Its own layer of prompt sections and variables, over those of its host."""
        ...

    @property
    def usage(self) -> Usage:
        """Tokens of this agent's own requests and of every child that has ended."""
        ...

    @property
    def model_requests(self) -> int:
        """Requests made, those of every child that has ended included."""
        ...

    @property
    def tool_calls(self) -> int:
        """Tool calls dispatched, those of every child that has ended included."""
        ...

    def send(
        self,
        content: str | Sequence[ContentBlock],
        *,
        source: str = "user",
        tool_choice: ToolChoice = "auto",
    ) -> None:
        """Queue a message; all that is queued then opens the next turn (B-AGT-18, B-AGT-23).

        Args:
          content: text, or blocks of text and images; taken over as it is now.
          source: who says it.
          tool_choice: for the first request of the turn that the message opens.

        Raises:
          AgentDisposedError: the agent has begun to end.
          TypeError: the content is neither.
        """
        ...

    def steer(self, content: str | Sequence[ContentBlock], *, source: str = "user") -> None:
        """Have the running turn read a message before its next request; when idle, ``send`` it.

        What the turn ended too early to read opens the next turn, unless a stop hook ended it
        (B-AGT-20, B-AGT-38, B-AGT-40). Raises as ``send`` does.
        """
        ...

    def inject(self, content: str | Sequence[ContentBlock], *, source: str) -> None:
        """Add context to the log without asking for an answer (B-AGT-21).

        It goes in at the next step boundary of an open turn, else at once, as a turn of its own.
        Raises as ``send`` does.
        """
        ...

    def cancel(self, reason: str = "cancelled") -> None:
        """End the open turn and forget what is queued; an idle agent does nothing (B-AGT-42).

        Injected context is kept. Returns at once; ``wait_idle`` waits for the turn to have ended.
        """
        ...

    async def wait_idle(self) -> None:
        """Return once nothing is queued and no turn is open, or the agent has ended.

        For an agent from ``AgentRegistry.open`` this is what runs its turns, in the calling task:
        cancelling it there ends the open turn (``aborted``) and leaves what is queued for the next
        caller. Elsewhere cancelling it only ends the waiting. A turn that fails raises nothing, see
        ``TurnFailed``.

        Raises:
          SelfWaitError: called from inside the agent's own turn.
        """
        ...

    def dispatch(self, event: object) -> None:
        """Tell this agent's hooks, and its host's; ``DelegatedUsage`` is added to the tallies."""
        ...

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Have *cancel_scope* cancelled as soon as this agent begins to end; returns the undo.

        Raises:
          AgentDisposedError: it has begun already.
        """
        ...


Setup: TypeAlias = Callable[[Agent], Awaitable[None] | None]
"""Composes an agent that nobody can see yet; async only where there is something to wait for."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """Everything an agent is created from; ``options`` are those it is to run with.

    Raises:
      InvalidAgentOptionsError: both a seed and a log to go on with are given, or a depth below 0.
      TypeError: the options are no ``AgentOptions``, or the depth is no int.
    """

    options: AgentOptions = _DEFAULTS
    id: AgentId | None = None
    """``None`` for a new one."""
    cwd: str | None = None
    """Where its work lies, an absolute path."""
    depth: int = 0
    """How many delegations lie above it."""
    parent: Agent | None = None
    """Whose child it is: lineage of the log, and for ``create`` whose nursery it lives in."""
    seed: SessionPrefix | Sequence[SessionEvent] | None = None
    """What its log inherits."""
    session: Session | None = None
    """A log to go on with, instead of a new one: how an agent is resumed. Its id and directory are
    the agent's, unless *id* says otherwise; once created, the agent closes it in the end."""
    setup: Setup | None = None
    """Composes the agent while nobody can see it; raising undoes the whole creation."""
    header: RequestHeader | None = None
    """What its requests carry beside the messages, instead of a fresh assembly: a fork's. The
    ``MODEL_CALL`` filter is asked all the same, about the model and the options in it."""

    def __post_init__(self) -> None:
        require(self, "options", self.options, AgentOptions)
        require_count(self, "depth", self.depth)
        if self.depth < 0:
            raise InvalidAgentOptionsError(f"depth is {self.depth}; an agent lies at 0 or deeper")
        if self.session is not None and self.seed is not None:
            raise InvalidAgentOptionsError("a log to go on with has its seed: pass one of the two")
