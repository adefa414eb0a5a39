"""What a child's end, or its failure to start, tells its parent's model. Plain functions."""

import json
from typing import Any, Final

from dsh.agent import HarnessError, TextBlock, ToolResult
from dsh.subagent import SubagentResult
from dsh.tool_subagent._prose import headlines
from dsh.tool_subagent._quoting import quoted

__all__ = ["rendered", "told"]

MAX_DETAIL_BYTES: Final = 4096
"""How much of a failure's own explanation is shown (B-HEAD-14)."""


def rendered(result: SubagentResult[Any], *, max_chars: int) -> ToolResult:
    """The answer of a child that completed; of any other, an error result.

    That has a sentence for the reason, the detail, the child's id, and whatever the child had
    written, marked as partial. The child's text is quoted and cut to *max_chars*, with a notice of
    how much is shown.
    """
    if result.completed:
        answer = result.text
        if result.structured is not None:
            answer = json.dumps(result.structured, ensure_ascii=False)
        return ToolResult(content=(TextBlock(text=_cut(answer, max_chars, result)),))
    lines = [_headline(result.stop_reason)]
    if result.detail:
        lines.append(f"Cause: {_bounded(quoted(result.detail))}")
    if result.child_id is not None:
        lines.append(f"Subagent: {quoted(result.child_id)}")
    if partial := result.text.strip():
        shown = _cut(partial, max_chars, result)
        lines.append(f"<partial_output>\n{shown}\n</partial_output>")
    text = TextBlock(text="\n".join(lines))
    return ToolResult(content=(text,), is_error=True, code=result.stop_reason.upper())


def told(error: HarnessError) -> str:
    """What the error of a backend says, as data: it may repeat what a child wrote."""
    return _bounded(quoted(f"{type(error).__name__}: {error}"))


def _headline(reason: str) -> str:
    known = headlines()
    if reason in known and reason != "other":
        return known[reason]
    return known["other"].format(reason=quoted(repr(reason[:80])))


def _cut(text: str, max_chars: int, result: SubagentResult[Any]) -> str:
    if len(text) <= max_chars:
        return quoted(text)
    whose = "" if result.child_id is None else f' subagent="{quoted(result.child_id)}"'
    notice = f'<truncated shown="{max_chars}" total="{len(text)}" unit="characters"{whose}/>'
    return f"{quoted(text[:max_chars])}\n{notice}"


def _bounded(text: str) -> str:
    encoded = text.encode(errors="replace")
    if len(encoded) <= MAX_DETAIL_BYTES:
        return text
    shown = encoded[:MAX_DETAIL_BYTES].decode(errors="ignore")
    return f'{shown} <truncated shown="{MAX_DETAIL_BYTES}" total="{len(encoded)}" unit="bytes"/>'
