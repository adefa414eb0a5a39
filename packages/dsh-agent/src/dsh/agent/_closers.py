"""What an interrupted log lacks: the events that close the turn it was cut off in."""

from collections.abc import Iterable, Sequence
from typing import Final

from dsh.agent._events import (
    AssistantMessage,
    SessionEvent,
    StepEnded,
    StepStarted,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
)
from dsh.agent._messages import TextBlock, ToolCallBlock, ToolResultBlock

__all__ = ["interrupted_turn_closers"]

_TEXT: Final = "The process ended before this call had a result; whether it took effect is unknown."


def interrupted_turn_closers(events: Sequence[SessionEvent]) -> tuple[SessionEvent, ...]:
    """The events to append to *events*, a legal log, so that no turn is open.

    An error result (``INTERRUPTED``) for each call of the open step that has none, in the order
    of the log, calls that were asked for but never dispatched included; then the step's end and
    the turn's, with the reason ``interrupted``. All bear the time of the last event. An empty
    or balanced log lacks nothing, and closed steps are not touched (B-SES-31 to B-SES-33).
    """
    turn, step = _open_tail(events)
    if turn is None:
        return ()
    opened = events[turn]
    assert isinstance(opened, TurnStarted)
    time = events[-1].time
    closers: list[SessionEvent] = []
    if step is not None:
        started = events[step]
        assert isinstance(started, StepStarted)
        for call, dispatched in _unanswered(events[step:]):
            if not dispatched:
                closers.append(ToolCalled(call=call, time=time))
            result = ToolResultBlock(
                call_id=call.id, content=(TextBlock(text=_TEXT),), is_error=True
            )
            closers.append(ToolResulted(result=result, code="INTERRUPTED", time=time))
        closers.append(StepEnded(turn=started.turn, step=started.step, time=time))
    closers.append(TurnEnded(turn=opened.turn, reason="interrupted", time=time))
    return tuple(closers)


def _open_tail(events: Sequence[SessionEvent]) -> tuple[int | None, int | None]:
    """Where the open turn and its open step begin, found from the end."""
    step: int | None = None
    step_ended = False
    for index in range(len(events) - 1, -1, -1):
        match events[index]:
            case TurnEnded():
                return None, None
            case StepEnded():
                step_ended = True
            case StepStarted():
                if step is None and not step_ended:
                    step = index
            case TurnStarted():
                return index, step
            case _:
                pass
    return None, None


def _unanswered(step: Iterable[SessionEvent]) -> list[tuple[ToolCallBlock, bool]]:
    """The calls of a step that have no result, and whether they were dispatched.

    Ids may repeat within a step, so calls are paired off in order, one by one.
    """
    asked: list[ToolCallBlock] = []
    called: list[ToolCallBlock] = []
    for event in step:
        match event:
            case AssistantMessage():
                asked += [b for b in event.message.content if isinstance(b, ToolCallBlock)]
            case ToolCalled():
                _drop(asked, event.call.id)
                called.append(event.call)
            case ToolResulted():
                _drop(called, event.result.call_id)
            case _:
                pass
    return [(call, True) for call in called] + [(call, False) for call in asked]


def _drop(calls: list[ToolCallBlock], call_id: str) -> None:
    found = next((index for index, call in enumerate(calls) if call.id == call_id), None)
    if found is not None:
        del calls[found]
