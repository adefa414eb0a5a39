"""What only a fork refuses."""

from dsh.agent import AgentId
from dsh.subagent import SubagentStartError

__all__ = ["ForkParentError"]


class ForkParentError(SubagentStartError):
    """No agent of this host is ``parent_id``, so there is no log to fork; nothing was created."""

    code = "FORK_PARENT"

    def __init__(self, provider: str, parent_id: AgentId) -> None:
        super().__init__(
            f"subagent provider {provider!r} cannot fork {parent_id!r}: it is no live agent of the "
            "provider's host, so it has no log there; a provider that spawns takes any parent"
        )
        self.parent_id = parent_id
