"""Drive one child in the calling task: create, publish, run its turns, close, read."""

from typing import Any

from dsh.agent import AgentOptions, AgentRegistry, AgentSpec, SessionPrefix
from dsh.subagent import Publish, ResolvedRequest, SubagentDepthError, SubagentResult
from dsh.subagent_inprocess._reading import read_result

__all__ = ["serve_child"]


async def serve_child(
    agents: AgentRegistry,
    request: ResolvedRequest,
    *,
    publish: Publish,
    seed: SessionPrefix | None = None,
) -> SubagentResult[Any]:
    """Run one child to quiescence; spawn passes no *seed*, fork passes the parent's."""
    depth = request.parent.depth + 1
    if request.max_depth is not None and depth > request.max_depth:
        raise SubagentDepthError(attempted_depth=depth, max_depth=request.max_depth)
    parent = agents.get(request.parent.id)  # None where the parent is no agent of this host
    inherited = parent.options if parent is not None else AgentOptions()
    options = AgentOptions(model=request.agent_options.model or inherited.model)
    spec = AgentSpec(options=options, cwd=request.parent.cwd, depth=depth, parent=parent, seed=seed)
    async with agents.open(spec) as child:
        session = child.session
        report = publish(child.id)
        try:
            child.send(request.prompt)
            await child.wait_idle()
        finally:
            report.partial(read_result(session, child_id=child.id))
    return read_result(session, child_id=child.id)
