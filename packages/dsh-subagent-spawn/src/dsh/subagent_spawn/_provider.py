"""A fresh child: its log is empty before the prompt."""

from typing import TYPE_CHECKING, Any, final

from dsh.agent import AgentRegistry
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    SubagentCapabilities,
    SubagentProvider,
    SubagentResult,
)
from dsh.subagent_inprocess import serve_child

__all__ = ["SpawnProvider"]


@final
class SpawnProvider:
    """Delegates to a fresh agent of the same host."""

    inherits_parent_context = False
    capabilities = SubagentCapabilities(depth_limit=True)

    def __init__(self, agents: AgentRegistry, *, name: str = "spawn") -> None:
        self.name = name
        self._agents = agents

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """See ``dsh.subagent.SubagentProvider.serve``."""
        return await serve_child(self._agents, request, publish=publish)


if TYPE_CHECKING:
    _: type[SubagentProvider] = SpawnProvider
