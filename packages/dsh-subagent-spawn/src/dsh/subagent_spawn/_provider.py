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
from dsh.subagent_inprocess import FRESH, serve_child

__all__ = ["SpawnProvider"]


@final
class SpawnProvider:
    """Delegates to a fresh agent of the same host.

    Args:
      agents: the host's; the parent is looked up there, and the child is created there.
      name: what it is registered under.
      structured_nudge_retries: how often a child is asked again for its structured answer.
    """

    inherits_parent_context = False
    """The child knows nothing of its parent's conversation."""
    capabilities = SubagentCapabilities(
        output_schema=True, depth_limit=True, tool_filter=True, persona=True
    )
    """It honours every field of a request."""

    def __init__(
        self, agents: AgentRegistry, *, name: str = "spawn", structured_nudge_retries: int = 1
    ) -> None:
        self.name = name
        self._agents = agents
        self._nudge_retries = structured_nudge_retries

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """See ``dsh.subagent.SubagentProvider.serve``."""
        return await serve_child(
            self._agents,
            request,
            publish=publish,
            nudge_retries=self._nudge_retries,
            inheritance=FRESH,
        )


if TYPE_CHECKING:
    _: type[SubagentProvider] = SpawnProvider
