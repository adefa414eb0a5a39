"""What the seam tells: providers in its own scope, runs in their parent's."""

from dataclasses import dataclass
from typing import final

from dsh.agent import AgentId

__all__ = ["RunEnded", "RunStarted"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """A child was published."""

    provider: str
    child_id: AgentId
    parent_id: AgentId


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run settled; sent once for every ``RunStarted``."""

    provider: str
    child_id: AgentId
    parent_id: AgentId
    stop_reason: str
