"""What the loop refuses, and how errors leave it."""

from typing import NoReturn

from dsh.agent import AgentId, HarnessError, unwrapped

__all__ = ["AgentLoopError", "NoModelError", "raise_bare"]


class AgentLoopError(HarnessError):
    """Base of what ``dsh.agent_loop`` refuses."""


class NoModelError(AgentLoopError):
    """No model for the agent ``id``: none in its options, its host's, or from a hook (B-AGT-29)."""

    code = "NO_MODEL"

    def __init__(self, id: AgentId) -> None:
        super().__init__(
            f"agent {id!r} has no model: set AgentOptions.model, or open_host(options=...)"
        )
        self.id = id


def raise_bare(group: BaseException) -> NoReturn:
    """Raise what ``unwrapped`` finds in *group*, with the context it had."""
    error = unwrapped(group)
    context = error.__context__
    try:
        raise error
    finally:
        error.__context__ = context
        del error, context, group
