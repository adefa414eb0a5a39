"""One child, driven in the calling task; the order of the steps is the contract.

Depth, cancelled already?, cap; create and compose; publish; run its turns; close it, so that its
own children have ended and its usage is complete; read its own events; return. So a run that has a
result is quiescent.

Next: `_reading.py`, what the answer is; `_structured.py`, how one is asked for in a shape.
"""

from typing import Any, Final

import trio

from dsh.agent import (
    Agent,
    AgentRegistry,
    AgentSpec,
    ImageBlock,
    OpenedAgent,
    TextBlock,
)
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    RunReporter,
    SubagentResult,
    SubagentStartError,
)
from dsh.subagent_inprocess._capture import STRUCTURED_OUTPUT_TOOL, Capture
from dsh.subagent_inprocess._composition import composition
from dsh.subagent_inprocess._depth import advanced, read_depth
from dsh.subagent_inprocess._inheritance import FRESH, Inheritance
from dsh.subagent_inprocess._options import child_options
from dsh.subagent_inprocess._parent import parent_in
from dsh.subagent_inprocess._prose import NUDGE, demanding
from dsh.subagent_inprocess._reading import as_cancelled, has_completed, read_result
from dsh.subagent_inprocess._tap import follow

__all__ = ["serve_child"]

_SENDABLE: Final = (TextBlock, ImageBlock)


async def serve_child(
    agents: AgentRegistry,
    request: ResolvedRequest,
    *,
    publish: Publish,
    nudge_retries: int,
    inheritance: Inheritance = FRESH,
) -> SubagentResult[Any]:
    """Run one child of the agent that asks, to quiescence, and return what came of it.

    The child lives in the calling task and ends with it. Cancelling cancels the child's turn; what
    it had so far is left with the run, as what it completed or as ``aborted``.

    Args:
      agents: where the parent is looked up and the child is created.
      request: what the seam let through.
      publish: the seam's; called once the child can be found in *agents*.
      nudge_retries: how often a child that ends cleanly without its structured answer is asked
        again, each time for one model request more.
      inheritance: what the child takes over from its parent.

    What is listed here is raised before publication; nothing was created.

    Raises:
      SubagentDepthError: the child would lie deeper than the request allows.
      SubagentStartError: the prompt holds a block that no agent can be sent, or the host has
        another agent of the parent's id.
      TypeError, OverflowError: the parent's depth is none, or cannot grow.
      HarnessError: what ``AgentRegistry.open`` and ``ToolRegistry.restrict`` refuse.
    """
    opening, parent, capture = await _admitted(agents, request, inheritance)
    child: Agent | None = None
    report: RunReporter | None = None
    result: SubagentResult[Any] | None = None
    try:
        async with opening as opened:
            report = publish(opened.id)
            child = opened
            follow(child, report, parent=parent)
            prompt = request.prompt if capture is None else demanding(request.prompt)
            child.send(inheritance.preface + prompt)
            await child.wait_idle()
            if capture is not None:
                await _insist(child, capture, nudge_retries)
    finally:
        if child is not None and report is not None:  # pragma: no branch - else an error passes
            result = read_result(child, capture)
            report.partial(as_cancelled(result))
    assert result is not None
    if not result.completed:  # whoever cancelled meanwhile owns every other end (B-DRV-20, B-SO-38)
        await trio.lowlevel.checkpoint_if_cancelled()
    return result


async def _admitted(
    agents: AgentRegistry, request: ResolvedRequest, inheritance: Inheritance
) -> tuple[OpenedAgent, Agent | None, Capture | None]:
    """Refuse what can be refused while there is no child; return what is to be entered."""
    parent_depth = read_depth(request.parent.depth)
    await trio.lowlevel.checkpoint_if_cancelled()
    depth = advanced(parent_depth, request.max_depth)
    for block in request.prompt:
        if not isinstance(block, _SENDABLE):
            raise SubagentStartError(
                f"a prompt for subagent provider {request.provider!r} is text and images; "
                f"a {type(block).__name__} cannot be sent"
            )
    parent = parent_in(agents, request)
    capture = Capture(request) if request.output_schema is not None else None
    spec = AgentSpec(
        options=child_options(parent.options if parent else None, request.agent_options),
        cwd=request.parent.cwd,
        depth=depth,
        parent=parent,
        seed=inheritance.seed,
        header=inheritance.header,
        setup=composition(request, parent, capture, inheritance),
    )
    return agents.open(spec), parent, capture


async def _insist(child: Agent, capture: Capture, retries: int) -> None:
    """Ask a child that ended cleanly for the answer it did not give (B-SO-20, B-SO-21)."""
    while capture.captured is None and capture.nudges < retries and has_completed(child):
        capture.nudges += 1
        child.send(NUDGE, source=STRUCTURED_OUTPUT_TOOL, tool_choice="required")
        await child.wait_idle()
