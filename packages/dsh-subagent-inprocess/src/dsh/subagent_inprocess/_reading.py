"""A child's own events, read as its answer."""

from typing import Any

from dsh.agent import AgentId, AssistantMessage, Session, TextBlock, TurnEnded, Usage
from dsh.subagent import SubagentResult

__all__ = ["read_result"]


def read_result(session: Session, *, child_id: AgentId) -> SubagentResult[Any]:
    """The text of the last own assistant message that has visible text, and why the child ended."""
    stop_reason, detail, usage, requests = "aborted", None, Usage(), 0
    output: tuple[TextBlock, ...] = ()
    for event in session.own_events:
        if isinstance(event, AssistantMessage):
            usage, requests = usage + event.usage, requests + 1
            blocks = [block for block in event.message.content if isinstance(block, TextBlock)]
            output = tuple(block for block in blocks if block.text.strip()) or output
        elif isinstance(event, TurnEnded):
            stop_reason, detail = event.reason, event.detail
    return SubagentResult(
        stop_reason=stop_reason,
        detail=detail,
        output=output,
        usage=usage,
        model_requests=requests,
        child_id=child_id,
    )
