"""Which agent of the host asks, if it is one of that host."""

from dsh.agent import Agent, AgentRegistry
from dsh.subagent import ResolvedRequest, SubagentStartError

__all__ = ["parent_in"]


def parent_in(agents: AgentRegistry, request: ResolvedRequest) -> Agent | None:
    """Return the parent as an agent of *agents*; ``None`` where it lives elsewhere.

    Whatever stands for an agent has that agent's nursery, which is how it is told from another
    host's agent of the same id.

    Raises:
      SubagentStartError: another agent has the parent's id; the child would be taken for its child.
    """
    found = agents.get(request.parent_id)
    if found is not None and found.nursery is not request.parent.nursery:
        raise SubagentStartError(
            f"subagent provider {request.provider!r} cannot tell whose child it would start: its "
            f"host has another agent {request.parent_id!r}; give one of the two another id"
        )
    return found
