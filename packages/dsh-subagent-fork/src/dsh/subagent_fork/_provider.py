"""A child with a past: its log begins with its parent's completed turns."""

from typing import TYPE_CHECKING, Any, final

from dsh.agent import AgentRegistry
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    SubagentCapabilities,
    SubagentProvider,
    SubagentResult,
)
from dsh.subagent_fork._errors import ForkParentError
from dsh.subagent_fork._seed import inherited
from dsh.subagent_inprocess import parent_in, serve_child

__all__ = ["ForkProvider"]


@final
class ForkProvider:
    """Delegates to an agent of the same host that begins where its parent's last turn ended.

    Args:
      agents: the host's; the parent is looked up there, and the child is created there.
      name: what it is registered under.
      structured_nudge_retries: how often a child is asked again for its structured answer.
    """

    inherits_parent_context = True
    """The child begins with its parent's completed turns."""
    capabilities = SubagentCapabilities(
        output_schema=True, depth_limit=True, tool_filter=True, persona=True
    )
    """It honours every field of a request."""

    def __init__(
        self, agents: AgentRegistry, *, name: str = "fork", structured_nudge_retries: int = 1
    ) -> None:
        self.name = name
        self._agents = agents
        self._nudge_retries = structured_nudge_retries

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """See ``dsh.subagent.SubagentProvider.serve``.

        Raises:
          ForkParentError: the parent is no agent of this host.
        """
        parent = parent_in(self._agents, request)
        if parent is None:
            raise ForkParentError(self.name, request.parent_id)
        return await serve_child(
            self._agents,
            request,
            publish=publish,
            nudge_retries=self._nudge_retries,
            inheritance=inherited(parent, request),
        )


if TYPE_CHECKING:
    _: type[SubagentProvider] = ForkProvider
