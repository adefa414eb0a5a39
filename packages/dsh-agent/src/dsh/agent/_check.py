"""What makes a log legal: a replay that names the first event that breaks a rule.

It only looks: a log is the same with and without it. Turns do not overlap and are numbered from
1; so are the steps of a turn; whatever happens, happens in a turn, and what a model says or has
done, in a step (B-SES-34 to B-SES-37).
"""

from collections.abc import Iterable
from typing import final

from dsh.agent._derive import derived_message
from dsh.agent._errors import AgentError
from dsh.agent._events import (
    EVENT_TYPES,
    AssistantMessage,
    ContextMessage,
    PartialMessage,
    RequestHeader,
    SessionEvent,
    SteeringMessage,
    StepEnded,
    StepStarted,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from dsh.agent._messages import Message
from dsh.agent._model import ChatRequest

__all__ = ["SessionInvariantError", "check_log", "check_request"]


class SessionInvariantError(AgentError):
    """A log breaks a rule: ``rule`` names it, ``seq`` is the first event that does."""

    code = "INVARIANT"

    def __init__(self, seq: int, rule: str, message: str) -> None:
        super().__init__(f"event {seq}: {message}")
        self.seq, self.rule = seq, rule


def check_log(events: Iterable[SessionEvent]) -> None:
    """Replay *events*, a whole log from its first event; a turn may still be open at its end.

    Raises:
      SessionInvariantError: an event breaks a rule.
    """
    replay = _Replay()
    for seq, event in enumerate(events):
        broken = replay.broken_by(event)
        if broken is not None:
            raise SessionInvariantError(seq, *broken)


def check_request(events: Iterable[SessionEvent], request: ChatRequest) -> None:
    """Replay *events*, the log at the moment *request* is made, and compare (B-SES-40).

    What a model is sent is what the log says: the messages derived from it, and the model, system
    text, tools and options of the last request header. ``tool_choice`` is not part of the log.

    Raises:
      SessionInvariantError: the request differs; the message names the first field that does.
    """
    header: RequestHeader | None = None
    messages: list[Message] = []
    replayed = tuple(events)
    seq = len(replayed)
    for event in replayed:
        if isinstance(event, RequestHeader):
            header = event
        elif (message := derived_message(event)) is not None:
            messages.append(message)
    if header is None:
        raise SessionInvariantError(seq, "request", "a request without a header in the log")
    for field in ("model", "system", "tools", "options"):
        if getattr(request, field) != getattr(header, field):
            raise SessionInvariantError(seq, "request", f"the request's {field} is not the log's")
    if list(request.messages) != messages:
        raise SessionInvariantError(seq, "request", "the request's messages are not the log's")


_Broken = tuple[str, str]


@final
class _Replay:
    """Where a log has got to: the turn and step that are open, and the calls yet unanswered."""

    def __init__(self) -> None:
        self.turn: int = 0
        self.turn_open = False
        self.step: int = 0
        self.step_open = False
        self.unanswered: list[str] = []

    def broken_by(self, event: SessionEvent) -> _Broken | None:
        """Take *event* in; return the rule that it breaks and what is wrong, if it does."""
        if type(event) not in EVENT_TYPES:
            return "event-type", f"a {type(event).__name__} is no session event"
        if isinstance(event, TurnStarted):
            return self._turn_started(event)
        if not self.turn_open:
            return "outside-turn", f"a {type(event).__name__} outside any turn"
        match event:
            case TurnEnded():
                return self._turn_ended(event)
            case StepStarted():
                return self._step_started(event)
            case StepEnded():
                return self._step_ended(event)
            case UserMessage() | ContextMessage() | SteeringMessage():
                if event.message.role != "user":
                    return "message-role", f"a {type(event).__name__} with role 'assistant'"
            case AssistantMessage() | PartialMessage() | ToolCalled() | ToolResulted():
                return self._within_step(event)
            case _:
                pass
        return None

    def _turn_started(self, event: TurnStarted) -> _Broken | None:
        if self.turn_open:
            return "turn-overlap", f"turn {event.turn} starts while turn {self.turn} is open"
        if event.turn != self.turn + 1:
            return "turn-number", f"turn {event.turn} starts, turn {self.turn + 1} is the next"
        self.turn = event.turn
        self.turn_open, self.step = True, 0
        return None

    def _turn_ended(self, event: TurnEnded) -> _Broken | None:
        if event.turn != self.turn:
            return "turn-end", f"turn {event.turn} ends, turn {self.turn} is open"
        if self.step_open:
            return "turn-end-in-step", f"turn {self.turn} ends while its step {self.step} is open"
        self.turn_open = False
        return None

    def _step_started(self, event: StepStarted) -> _Broken | None:
        if event.turn != self.turn:
            return "step-turn", f"a step of turn {event.turn} starts in turn {self.turn}"
        if self.step_open:
            return "step-overlap", f"step {event.step} starts while step {self.step} is open"
        if event.step != self.step + 1:
            return "step-number", f"step {event.step} starts, step {self.step + 1} is the next"
        self.step = event.step
        self.step_open, self.unanswered = True, []
        return None

    def _step_ended(self, event: StepEnded) -> _Broken | None:
        if not self.step_open:
            return "step-end", f"step {event.step} ends, no step is open"
        if (event.turn, event.step) != (self.turn, self.step):
            ends = f"step {event.step} of turn {event.turn}"
            return "step-end", f"{ends} ends, step {self.step} of turn {self.turn} is open"
        self.step_open = False
        return None

    def _within_step(
        self, event: AssistantMessage | PartialMessage | ToolCalled | ToolResulted
    ) -> _Broken | None:
        if not self.step_open:
            return "outside-step", f"a {type(event).__name__} outside any step"
        match event:
            case AssistantMessage():
                if event.message.role != "assistant":
                    return "message-role", "an AssistantMessage with role 'user'"
            case ToolCalled():
                self.unanswered.append(event.call.id)
            case ToolResulted():
                if event.result.call_id not in self.unanswered:
                    call = event.result.call_id
                    return (
                        "unasked-result",
                        f"a result for {call!r}, which is no open call of the step",
                    )
                self.unanswered.remove(event.result.call_id)
            case _:  # what was said before an interruption follows from nothing
                pass
        return None
