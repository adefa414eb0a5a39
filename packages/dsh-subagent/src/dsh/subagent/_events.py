"""What the seam tells: providers on the service's own hooks, runs in their parent's scope.

Every run that starts has one `RunStarted` before anything its child does, and one `RunEnded` when
it settles; a start that fails has neither. Events are frozen and hold nothing mutable.
"""

from dataclasses import dataclass
from typing import final

from dsh.agent import AgentId, ContentBlock, StopReason
from dsh.subagent._provider import ProviderDescriptor

__all__ = ["ProviderAdded", "ProviderRemoved", "RunEnded", "RunStarted"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAdded:
    """``provider`` can be started; a listener that raises undoes the registration (B-SEAM-06)."""

    provider: ProviderDescriptor


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRemoved:
    """``provider`` takes no more starts; its runs live on."""

    provider: ProviderDescriptor


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The child ``child_id`` of ``parent_id`` was published, by the backend ``provider``.

    ``parent_call_id`` and ``label`` are those of the request.
    """

    provider: str
    child_id: AgentId
    parent_id: AgentId
    parent_call_id: str | None = None
    label: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """A run settled; sent once for every `RunStarted`, whose fields it repeats.

    Those are ``provider``, ``child_id``, ``parent_id``, ``parent_call_id`` and ``label``. How it
    ended is ``stop_reason`` and, for a person to read, ``detail``, as in `SubagentResult`.
    """

    provider: str
    child_id: AgentId
    parent_id: AgentId
    stop_reason: StopReason
    parent_call_id: str | None = None
    label: str | None = None
    output: tuple[ContentBlock, ...] | None = None
    """The result's output; ``None`` where the backend failed and there is no result."""
    detail: str | None = None
