"""The backend as the seam sees it; `_run.py` is what it does.

Next: `_factory.py`, for hosts that find their backends by entry point.
"""

from itertools import count
from typing import TYPE_CHECKING, Any, final

from dsh.agent import AgentId
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    SubagentCapabilities,
    SubagentProvider,
    SubagentResult,
)
from dsh.subagent_acp._config import AcpConfig
from dsh.subagent_acp._run import serve_agent

__all__ = ["AcpProvider"]


@final
class AcpProvider:
    """Delegates to an agent in a process of its own, over the Agent Client Protocol.

    One process a run, one session a process (B-ACP-01). Of the parent only its working directory
    reaches the child, which has its own model, tools and conversation (B-ACP-15). POSIX only.
    """

    inherits_parent_context = False
    """The child knows nothing of its parent's conversation."""
    capabilities = SubagentCapabilities(output_schema=True)
    """A structured answer is asked for in words and checked; nothing else can be honoured."""

    def __init__(self, config: AcpConfig) -> None:
        self.name = config.provider_name
        """What it is registered under."""
        self._config = config
        self._numbers = count(1)

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """See ``dsh.subagent.SubagentProvider.serve``.

        Raises:
          AcpPromptError: the request holds what this agent cannot be given.
          AcpStartError: the agent could not be started, or took no session.
        """
        child_id = AgentId(f"{self.name}-{next(self._numbers)}")
        return await serve_agent(self._config, request, publish=publish, child_id=child_id)


if TYPE_CHECKING:
    _: type[SubagentProvider] = AcpProvider
