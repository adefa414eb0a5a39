"""The contract of a backend, in one place."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, final

from dsh.agent import AgentId
from dsh.subagent._request import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = ["Publish", "RunReporter", "SubagentCapabilities", "SubagentProvider"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentCapabilities:
    """Which of the gated request fields a backend honours."""

    output_schema: bool = False
    depth_limit: bool = False
    tool_filter: bool = False
    persona: bool = False


class RunReporter(Protocol):
    """What a backend may say about its published run."""

    def progress(self, event: object) -> None:
        """Tell what happens."""
        ...

    def partial(self, result: SubagentResult[Any]) -> None:
        """Leave what the child had so far, for the case that it is cancelled."""
        ...

    def settle(self, result: SubagentResult[Any]) -> None:
        """Settle before ``serve`` has returned; the first settlement stands."""
        ...


class _Publish(Protocol):
    def __call__(self, child_id: AgentId, /) -> RunReporter: ...


Publish: TypeAlias = _Publish


class SubagentProvider(Protocol):
    """A backend: one coroutine that returns its child's result."""

    @property
    def name(self) -> str: ...
    @property
    def capabilities(self) -> SubagentCapabilities: ...
    @property
    def inherits_parent_context(self) -> bool:
        """Whether a child knows its parent's conversation."""
        ...

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """Run one child to quiescence and return what came of it.

        Call *publish* once, when the child exists: until then every failure is yours to undo and
        surfaces from ``start``; from then on whatever happens to the child is a value.
        """
        ...
