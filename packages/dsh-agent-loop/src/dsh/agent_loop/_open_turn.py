"""An open turn: where it stands, and everything it writes down."""

import logging
import math
from dataclasses import dataclass
from typing import Final, final

import trio

from dsh.agent import (
    AssistantMessage,
    ChatResponse,
    ContextMessage,
    EventLogged,
    HarnessError,
    Hooks,
    Message,
    SessionEvent,
    SteeringMessage,
    StepContext,
    StopReason,
    ThreadLostError,
    ToolCallBlock,
    ToolChoice,
    TurnEnded,
    TurnFailed,
    TurnStarted,
    TurnTrigger,
    Usage,
    message_of,
    unwrapped,
)
from dsh.agent_loop._inbox import Prompt
from dsh.agent_loop._repair import repaired
from dsh.agent_loop._taker import TurnTaker

__all__ = ["COMPLETED", "OpenTurn", "Outcome"]

logger = logging.getLogger("dsh.agent_loop")

_NO_USAGE: Final = Usage()


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Why a turn ended."""

    reason: StopReason
    detail: str | None = None
    code: str | None = None


COMPLETED: Final = Outcome("completed")


@final
class OpenTurn:
    """The turn an agent is in. ``_turn`` moves it, the agent cancels and steers it."""

    __slots__ = (
        "agent",
        "called",
        "cancel_reason",
        "is_open",
        "is_served",
        "is_stopped",
        "lost",
        "max_steps",
        "number",
        "prompts",
        "scope",
        "step",
        "tool_choice",
    )

    def __init__(
        self, agent: TurnTaker, *, prompts: tuple[Prompt, ...] = (), is_served: bool = False
    ) -> None:
        self.agent = agent
        self.prompts = prompts
        """What opens it, until it has been judged."""
        self.is_served = is_served
        """Whether the agent's own task runs it, so that what cancels it from without ends both."""
        self.number = agent.session.turns + 1
        self.max_steps = agent.max_steps
        self.scope = trio.CancelScope()
        self.step = 0
        self.called = False
        """Whether the last step made tool calls."""
        self.tool_choice: ToolChoice = "auto"
        self.cancel_reason: str | None = None
        self.lost: str | None = None
        """What may still be running: a thread that did not end when it was asked to."""
        self.is_open = False
        self.is_stopped = False

    @property
    def hooks(self) -> Hooks:
        """Who takes part."""
        return self.agent.hooks_in_force

    @property
    def context(self) -> StepContext:
        """Where the turn stands, for hooks."""
        return StepContext(agent=self.agent, turn=self.number, step=self.step)

    @property
    def is_steered(self) -> bool:
        """Whether steering waits to be delivered."""
        return bool(self.agent.inbox.steering)

    def cancel(self, reason: str) -> None:
        """Have the turn end ``aborted``; the first reason stands."""
        if self.cancel_reason is None:
            self.cancel_reason = reason
        self.scope.cancel(reason)

    def lose(self, what: str) -> None:
        """Have the turn end ``lost``: something of it cannot be ended."""
        self.lost = what
        self.scope.cancel(what)

    def stop(self) -> None:
        """Drop steering from here on: a stop hook ended the turn (B-AGT-37, B-AGT-38)."""
        self.is_stopped = True
        self.agent.inbox.steering = ()

    def log(self, event: SessionEvent) -> None:
        """Commit *event* and tell who listens."""
        agent = self.agent
        seq = agent.session.append(event)
        if agent.hooks_in_force.hears(EventLogged):
            agent.dispatch(EventLogged(agent=agent, seq=seq, event=event))

    def log_context(self, message: Message) -> None:
        """Commit something a plugin wants the model to know."""
        self.log(ContextMessage(message=message))

    def log_answer(self, response: ChatResponse) -> tuple[ToolCallBlock, ...]:
        """Commit a model's answer, repaired; returns the calls to make.

        An answer that was cut makes none and keeps none, so that none stays unanswered
        (B-AGT-32). One with neither content nor usage is not worth a message (B-AGT-31).
        """
        content = repaired(response.content)
        calls = tuple(block for block in content if isinstance(block, ToolCallBlock))
        if calls and response.finish_reason in ("max_tokens", "refusal"):
            content = tuple(block for block in content if not isinstance(block, ToolCallBlock))
            calls = ()
        if content or response.usage != _NO_USAGE:
            self.log(
                AssistantMessage(
                    message=Message(role="assistant", content=content, source="model"),
                    finish_reason=response.finish_reason,
                    usage=response.usage,
                )
            )
        return calls

    def deliver(self) -> None:
        """Commit the context and the steering that came since the last step (B-AGT-20)."""
        self._log_injected()
        while self.is_steered:
            self.log(SteeringMessage(message=self.agent.inbox.next_steering()))

    def _log_injected(self) -> None:
        while self.agent.inbox.context:
            self.log_context(self.agent.inbox.next_context())

    def start(self, trigger: TurnTrigger = "message") -> None:
        """Open the turn in the log."""
        self.is_open = True
        self.log(TurnStarted(turn=self.number, trigger=trigger))

    def log_injection(self) -> None:
        """Be the one-shot turn that brings waiting context into the log (B-AGT-21)."""
        self.start(trigger="injection")
        self.end(COMPLETED)

    def failure(self, error: Exception) -> Outcome | None:
        """What an error that left the turn makes of it: ``None`` if it was being cancelled."""
        cause = unwrapped(error)
        if self.scope.cancel_called or trio.current_effective_deadline() == -math.inf:
            logger.error("agent %s: error while cancelled", self.agent.id, exc_info=cause)
            return None
        detail = _words(cause)
        if self.hooks.hears(TurnFailed):
            self.hooks.dispatch(
                TurnFailed(agent=self.agent, turn=self.number, step=self.step, error=cause)
            )
        elif not self.agent.depth:  # who delegated to it is given the failure as a result
            trace = None if isinstance(cause, HarnessError) else cause
            said = "agent %s: turn %d failed: %s"
            logger.warning(said, self.agent.id, self.number, detail, exc_info=trace)
        code = getattr(cause, "code", None)  # a foreign one may be a number, as of an HTTP status
        return Outcome("error", detail, code if isinstance(code, str) else None)

    def end(self, outcome: Outcome | None) -> None:
        """Close the turn in the log; without an outcome it was cancelled (B-AGT-42, B-AGT-47)."""
        outcome = outcome or self._cut_short()
        self._log_injected()
        self.is_open = False
        self.log(
            TurnEnded(
                turn=self.number,
                reason=outcome.reason,
                detail=outcome.detail,
                code=outcome.code,
            )
        )

    def _cut_short(self) -> Outcome:
        if self.lost is not None:
            return Outcome("lost", self.lost, ThreadLostError.code)
        if self.cancel_reason is not None:
            return Outcome("aborted", self.cancel_reason)
        if self.agent.status == "disposed" or self.is_served:
            return Outcome("disposed", self.agent.end_reason or "the agent ended")
        return Outcome("aborted")


def _words(error: BaseException) -> str:
    """What *error* says, or its class where it says nothing."""
    return message_of(error) or type(error).__name__
