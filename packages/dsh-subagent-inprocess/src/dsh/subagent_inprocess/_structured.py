"""Structured output of one child: its tool, instruction, guard, stop and observer.

All of it is registered on the child while nobody can see it, and ends with it; nothing is
registered anywhere else (B-SO-24). The rules are in `_capture.py`.
"""

from functools import partial

from dsh.agent import (
    TOOL_GUARD,
    TURN_STOP,
    Agent,
    TextBlock,
    Tool,
    ToolExecution,
    ToolFinished,
    ToolResult,
)
from dsh.subagent_inprocess._capture import STRUCTURED_OUTPUT_TOOL, Capture
from dsh.subagent_inprocess._prose import DESCRIPTION, INSTRUCTION, RECORDED

__all__ = ["attach"]

_ORDER = 190
"""Where the instruction stands: after the host's own sections (B-SO-12)."""

_ACKNOWLEDGED = ToolResult(content=(TextBlock(text=RECORDED),))


def attach(child: Agent, capture: Capture) -> None:
    """Have *child* answer by a call that *capture* judges."""
    child.tools.register(
        Tool(
            name=STRUCTURED_OUTPUT_TOOL,
            description=DESCRIPTION,
            parameters=capture.schema,
            execute=partial(_record, capture),
            owner_final=True,
            guidance=INSTRUCTION,
            guidance_order=_ORDER,
        )
    )
    child.hooks.guard(TOOL_GUARD, capture.refusal)
    child.hooks.on(ToolFinished, capture.note_result)
    child.hooks.stop(TURN_STOP, capture.is_final)


async def _record(capture: Capture, execution: ToolExecution) -> ToolResult:
    capture.park(execution)
    return _ACKNOWLEDGED
