"""Legal logs to start tests from."""

from dsh.agent._events import (
    AssistantMessage,
    SessionEvent,
    StepEnded,
    StepStarted,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from dsh.agent._messages import Message, TextBlock, ToolCallBlock, ToolResultBlock, Usage

__all__ = ["completed_turn", "interrupted_turn"]


def completed_turn(turn: int, text: str = "hello") -> tuple[SessionEvent, ...]:
    """Turn *turn*: the prompt *text*, one step, and the answer *text* after ``re:``."""
    return (
        TurnStarted(turn=turn),
        UserMessage(message=Message(role="user", content=(TextBlock(text=text),))),
        StepStarted(turn=turn, step=1),
        _answer(TextBlock(text=f"re: {text}")),
        StepEnded(turn=turn, step=1),
        TurnEnded(turn=turn, reason="completed"),
    )


def interrupted_turn(turn: int) -> tuple[SessionEvent, ...]:
    """Turn *turn*, cut off: of three calls ``c1`` is answered, ``c2`` only dispatched."""
    calls = [ToolCallBlock(id=each, name="read", arguments="{}") for each in ("c1", "c2", "c3")]
    result = ToolResultBlock(call_id="c1", content=(TextBlock(text="read"),))
    return (
        TurnStarted(turn=turn),
        UserMessage(message=Message(role="user", content=(TextBlock(text="read all"),))),
        StepStarted(turn=turn, step=1),
        _answer(*calls),
        ToolCalled(call=calls[0]),
        ToolResulted(result=result),
        ToolCalled(call=calls[1]),
    )


def _answer(*content: TextBlock | ToolCallBlock) -> AssistantMessage:
    calls = isinstance(content[-1], ToolCallBlock)
    return AssistantMessage(
        message=Message(role="assistant", content=content, source="model"),
        finish_reason="tool_calls" if calls else "stop",
        usage=Usage(input_tokens=3, output_tokens=2),
    )
