"""What a turn comes to as a result. Pure."""

from dataclasses import replace
from typing import Any, Final

from dsh.agent import TextBlock
from dsh.subagent import SubagentResult
from dsh.subagent_acp._session import Session, TurnEnd
from dsh.subagent_acp._structured import Capture

__all__ = ["as_lost", "read_outcome", "read_partial"]

_REASONS: Final = {
    "end_turn": "completed",
    "max_tokens": "max_tokens",
    "max_turn_requests": "max_steps",
    "refusal": "refusal",
    "cancelled": "aborted",
}
_DETAILS: Final = {
    "max_tokens": "the answer was cut at the model's output limit",
    "max_turn_requests": "the agent ended at its own limit of model requests",
    "refusal": "the agent refused",
    "cancelled": "the agent says that its turn was cancelled; nobody here cancelled it",
}


def read_outcome(session: Session, end: TurnEnd, capture: Capture | None) -> SubagentResult[Any]:
    """Return what came of the last turn; only ``end_turn`` with an answer is a success."""
    reason, detail = _ending(end)
    if reason == "completed":
        reason, detail = _completed(session, capture)
    result = replace(read_partial(session), stop_reason=reason, detail=detail)
    if capture is None or capture.violations:
        return result
    return replace(result, structured=capture.structured, value=capture.value)


def read_partial(session: Session) -> SubagentResult[Any]:
    """Return what there is so far, as of a child that was stopped."""
    text = session.record.text
    return SubagentResult(
        stop_reason="aborted",
        output=(TextBlock(text=text),) if text.strip() else (),
        usage=session.usage,
        tool_calls=session.tool_calls,
    )


def as_lost(result: SubagentResult[Any], pid: int) -> SubagentResult[Any]:
    """Return *result* for a child of which something runs on."""
    told = f"process group {pid} survived SIGKILL and runs on"
    detail = told if result.detail is None else f"{result.detail}; {told}"
    return replace(result, stop_reason="lost", detail=detail)


def _ending(end: TurnEnd) -> tuple[str, str | None]:
    if end.failure is not None:
        return "error", str(end.failure)
    if end.reason not in _REASONS:
        told = "without saying why" if end.reason is None else f"with the reason {end.reason!r:.80}"
        return "error", f"the agent ended its turn {told}"
    return _REASONS[end.reason], _DETAILS.get(end.reason)


def _completed(session: Session, capture: Capture | None) -> tuple[str, str | None]:
    denied = session.desk.denied if session.desk is not None else 0
    noted = f"{denied} of its requests for permission denied" if denied else None
    if capture is not None and capture.violations:
        return "error", "; ".join(("no structured answer", *capture.violations))
    if capture is None and not session.record.text.strip():
        detail = "the agent ended without visible text"
        return "no_output", f"{detail}; {noted}" if noted else detail
    return "completed", noted
