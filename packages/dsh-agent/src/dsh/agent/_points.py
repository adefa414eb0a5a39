"""Where a plugin takes part in an agent's life and turns: the loop's hook points.

Events are observed with ``hooks.on``, filters wrap a value with ``hooks.filter``, and the one stop
ends a turn with ``hooks.stop``. The order of a turn is written down in ``dsh.agent_loop._turn``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from dsh.agent._agent import Agent, AgentStatus
from dsh.agent._events import SessionEvent
from dsh.agent._hooks import Filter, Stop
from dsh.agent._ids import AgentId
from dsh.agent._messages import Message
from dsh.agent._model import ChatResponse, Delta

__all__ = [
    "CONTINUATION",
    "MODEL_CALL",
    "PRE_STEP",
    "PROMPT_SUBMIT",
    "STEP_RESULT",
    "TURN_STOP",
    "AgentCreated",
    "AgentDisposed",
    "AgentStatusChanged",
    "Continuation",
    "EventLogged",
    "MessageQueued",
    "ModelCallConfig",
    "ModelDelta",
    "PromptSubmission",
    "StepContext",
    "TurnFailed",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCreated:
    """``agent`` was published; before anything it does."""

    agent: Agent


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDisposed:
    """The published ``agent`` has ended: nothing of it runs any more."""

    agent: Agent


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatusChanged:
    """``agent`` went to work, came to rest, or began to end: ``status`` is what it is now."""

    agent: Agent
    status: AgentStatus


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueued:
    """``agent`` accepted ``message``, for the running turn (*steering*) or for the next one."""

    agent: Agent
    message: Message
    steering: bool


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class EventLogged:
    """The loop committed *event* to the log of *agent*, where its number is *seq*."""

    agent: Agent
    seq: int
    event: SessionEvent


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDelta:
    """``delta`` is a piece of an answer that the agent ``agent_id`` is being given."""

    agent_id: AgentId
    delta: Delta


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFailed:
    """``turn`` of ``agent`` came to grief at *step* (0: outside of any), by ``error``.

    The agent goes on with its next message. Where nobody listens the reference loop logs a warning,
    unless the agent is a child: whoever delegated to it is given the failure as a result.
    """

    agent: Agent
    turn: int
    step: int
    error: BaseException


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSubmission:
    """A ``message`` about to open a turn. A listener may replace it, add context, or block it."""

    message: Message
    context: tuple[Message, ...] = ()
    """Told to the model right after the message."""
    blocked: str | None = None
    """Why the model must not see it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """Which ``step`` of which ``turn`` of ``agent`` a hook is asked about."""

    agent: Agent
    turn: int
    step: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCallConfig:
    """Which ``model`` a request goes to, and with which ``options``."""

    model: str | None
    options: Mapping[str, object]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Continuation:
    """Whether the turn takes another step, ``go_on``; a *reason* to is told to the model."""

    go_on: bool
    reason: str | None = None


PROMPT_SUBMIT: Final[Filter[PromptSubmission, Agent]] = Filter(
    "prompt-submit", accepts=PromptSubmission
)
"""Each message of a turn, before it is logged (B-AGT-24)."""

PRE_STEP: Final[Filter[tuple[Message, ...], StepContext]] = Filter("pre-step", accepts=tuple)
"""Context to add before a step: messages to be logged, none to begin with."""

MODEL_CALL: Final[Filter[ModelCallConfig, StepContext]] = Filter(
    "model-call", accepts=ModelCallConfig
)
"""Model and options of a request, and nothing else of it (B-AGT-28)."""

STEP_RESULT: Final[Filter[ChatResponse, StepContext]] = Filter("step-result", accepts=ChatResponse)
"""A model's answer, before it is logged and its tool calls are made."""

CONTINUATION: Final[Filter[Continuation, StepContext]] = Filter(
    "continuation", accepts=Continuation
)
"""Whether the turn goes on after a step; waiting steering keeps it going all the same."""

TURN_STOP: Final = Stop[StepContext]("turn-stop")
"""Whether the turn is over after a step; steering not yet delivered is dropped (B-AGT-37)."""
