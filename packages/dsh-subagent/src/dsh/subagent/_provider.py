"""The contract of a backend, in one place.

Next: `_supervisor.py`, which holds it to the contract; `dsh.subagent.testing.check_provider` is the
contract as a test.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol, final

import trio

from dsh.agent import AgentId
from dsh.subagent._progress import Progress
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = [
    "ProviderDescriptor",
    "Publish",
    "RunReporter",
    "SubagentCapabilities",
    "SubagentProvider",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentCapabilities:
    """Which of the gated request fields a backend honours; ``False`` is "refused".

    ``depth_limit`` is for ``max_depth``; ``output_schema``, ``tool_filter`` and ``persona`` are for
    the fields of the same name.
    """

    output_schema: bool = False
    depth_limit: bool = False
    tool_filter: bool = False
    persona: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What is supported, in the order in which it is checked."""
        return tuple(field.name for field in fields(self) if getattr(self, field.name) is True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderDescriptor:
    """What a provider said of itself when it was registered; later changes do not count.

    ``name`` is what it is registered under, ``capabilities`` are what it honours.
    """

    name: str
    capabilities: SubagentCapabilities
    inherits_parent_context: bool
    """Whether a child knows its parent's conversation. It says nothing about tools, services or
    authority (B-SEAM-29)."""


class RunReporter(Protocol):
    """What a backend may say about its published run, from any task, until ``serve`` has ended.

    A thread comes back first, with ``trio.from_thread.run_sync``; so it does to publish. What is no
    `Progress` or no `SubagentResult`, or has a field of the wrong type, is a ``TypeError``; a count
    below 0 is a ``ValueError``.
    """

    def progress(self, event: Progress, /) -> None:
        """Tell what happens; the seam adds the ids. Dropped once the run has settled.

        Raises:
          RuntimeError: It is called in a thread.
        """
        ...

    def when_heard(self, start: Callable[[], object], /) -> None:
        """Call *start* once, as soon as the run has a listener of its own (`on_progress`).

        For backends to which telling costs something. It says nothing of the parent's scope.
        """
        ...

    def partial(self, result: SubagentResult[Any], /) -> None:
        """Leave what the child has so far, for the case that it is cancelled; the last one counts.

        Its stop reason is what the run then ends with. Say ``aborted`` for what is unfinished:
        where the request's deadline did it, the seam makes that ``timeout``. ``completed`` and
        ``lost`` stay as they are. In ``finally`` call this and never `settle`: there a backend
        cannot tell a cancellation from a bug.
        """
        ...

    def settle(self, result: SubagentResult[Any], /) -> None:
        """Settle before ``serve`` has returned; the first settlement stands."""
        ...

    def settle_cancelled(self, cancelled: trio.Cancelled, /) -> None:
        """Settle with what `partial` left, now that *cancelled* has reached the backend.

        For one whose clean-up takes its time. *cancelled* is the ``sys.exception()`` of a
        ``finally``; let it pass. The seam says whether that is ``aborted`` or ``timeout``, as it
        does once ``serve`` has ended.

        A nursery cancels too, the tasks beside one that failed. A `trio.Cancelled` whose ``source``
        is ``nursery`` settles nothing here: whether it is a failure or a cancellation shows only
        when ``serve`` has ended.
        """
        ...


class Publish(Protocol):
    """What publishes a child: a plain function that a backend calls once, when the child exists."""

    def __call__(self, child_id: AgentId, /) -> RunReporter:
        """Publish the child; what is returned is how the backend tells of it from now on.

        Raises:
          SubagentStartCancelledError: The start was cancelled; pass it on. Nothing was published.
          SubagentPublishError: It was called before, or ``serve`` has ended.
          TypeError: The id is no text, or empty.
        """
        ...


class SubagentProvider(Protocol):
    """A backend: one coroutine that returns its child's result."""

    @property
    def name(self) -> str:
        """What it is registered under."""
        ...

    @property
    def capabilities(self) -> SubagentCapabilities:
        """Which optional request fields it honours."""
        ...

    @property
    def inherits_parent_context(self) -> bool:
        """Whether a child knows its parent's conversation."""
        ...

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """Run one child to quiescence and return what came of it.

        It runs in a task of its own below the parent, inside the request's cancel scope. When it
        returns or raises, nothing of the child runs any more.

        Call *publish* once, when the child exists: until then every failure is yours to undo and
        surfaces from ``start``; from then on the run belongs to whoever asked for it, and whatever
        happens to the child is a value.

        What is raised before publication reaches the caller of ``start`` (a `HarnessError` as it
        is, anything else as `SubagentStartError`); what is raised afterwards makes the run's
        ``result()`` raise `SubagentRunError`. A cancellation passes through untouched.

        Raises:
          SubagentStartCancelledError: *publish* raised it, and it is passed on; nothing was
            published.
        """
        ...
