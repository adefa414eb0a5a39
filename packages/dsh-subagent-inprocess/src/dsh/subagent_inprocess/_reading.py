"""A child's own events, read as its answer. Pure.

Inherited events are never looked at, tool results and thoughts are never an answer.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, final

from dsh.agent import (
    Agent,
    AssistantMessage,
    ContentBlock,
    PartialMessage,
    SessionEvent,
    TextBlock,
    ThinkingBlock,
    TurnEnded,
    TurnStarted,
    TurnTrigger,
)
from dsh.subagent import SubagentResult
from dsh.subagent_inprocess._capture import Capture

__all__ = ["as_cancelled", "has_completed", "read_result"]

_LONGEST: Final = 4_096
"""How many characters of a cause a result repeats."""

_RENAMED: Final = {"disposed": "error", "interrupted": "error", "rejected": "refusal"}
"""Ends that only a log knows."""

_DETAILS: Final = {
    "max_tokens": "the answer was cut at the model's output limit",
    "refusal": "the model refused",
    "disposed": "the child was ended from outside",
    "interrupted": "the child's turn was interrupted",
}


@final
@dataclass(slots=True)
class _Reading:
    """What matters of a child's own events."""

    output: tuple[ContentBlock, ...] = ()
    partial: str = ""
    thought: bool = False
    ended: TurnEnded | None = None


def read_result(child: Agent, capture: Capture | None) -> SubagentResult[Any]:
    """Return what became of *child*, which has ended, and why.

    The answer is the text of its last own message that has any; streamed text counts where there is
    no such message. A clean end with neither text nor capture is no success.

    Args:
      child: whose log and counts are read; they include its own children.
      capture: the structured answer, where one was asked for.
    """
    reading = _read(child.session.own_events)
    reason, detail = _ending(reading)
    if reason == "completed":
        reason, detail = _completed(reading, capture)
    elif capture is not None and capture.captured is None and capture.rejected:
        detail = "; ".join(filter(None, (detail, capture.shortfall())))
    captured = capture.captured if capture is not None else None
    return SubagentResult(
        stop_reason=reason,
        output=reading.output or _blocks(reading.partial),
        structured=captured.structured if captured is not None else None,
        value=captured.value if captured is not None else None,
        detail=detail[:_LONGEST] if detail is not None else None,
        usage=child.usage,
        model_requests=child.model_requests,
        tool_calls=child.tool_calls,
    )


def as_cancelled(result: SubagentResult[Any]) -> SubagentResult[Any]:
    """Return what is left of a child that was cancelled.

    What had completed stays so, and what was lost is worth knowing; all else was aborted (B-DRV-20,
    B-DRV-21), for the reason that whoever cancelled gives.
    """
    if result.stop_reason in ("completed", "lost", "aborted"):
        return result
    return replace(result, stop_reason="aborted", detail=None)


def has_completed(child: Agent) -> bool:
    """Whether the last own turn of *child* ended as it should."""
    ended = _read(child.session.own_events).ended
    return ended is not None and ended.reason == "completed"


def _read(events: Iterable[SessionEvent]) -> _Reading:
    reading = _Reading()
    trigger: TurnTrigger = "message"
    for event in events:
        match event:
            case AssistantMessage():
                content = event.message.content
                reading.output = _visible(content) or reading.output
                reading.thought = any(isinstance(block, ThinkingBlock) for block in content)
            case PartialMessage():
                reading.partial = event.text
            case TurnStarted():
                trigger = event.trigger
            case TurnEnded() if trigger == "message":
                reading.ended = event
            case _:
                pass
    return reading


def _visible(content: Iterable[ContentBlock]) -> tuple[ContentBlock, ...]:
    return tuple(block for block in content if isinstance(block, TextBlock) and block.text.strip())


def _blocks(text: str) -> tuple[ContentBlock, ...]:
    return _visible((TextBlock(text=text),))


def _ending(reading: _Reading) -> tuple[str, str | None]:
    if reading.ended is None:
        return "error", "the child ended before it had a turn"
    reason = reading.ended.reason
    return _RENAMED.get(reason, reason), reading.ended.detail or _DETAILS.get(reason)


def _completed(reading: _Reading, capture: Capture | None) -> tuple[str, str | None]:
    """Return what a clean end comes to."""
    if capture is not None:
        if capture.captured is None:
            return "error", capture.shortfall()
        return "completed", capture.history()
    if reading.output:
        return "completed", None
    why = "; it only thought" if reading.thought else ""
    return "no_output", f"the child ended without visible text{why}"
