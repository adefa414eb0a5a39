"""The two observers of a clause: one around the backend, one around the parent.

Next: `_bench.py`, which puts them in place.
"""

from collections.abc import Awaitable, Callable
from typing import Any, final

import trio

from dsh.subagent._errors import SubagentStartCancelledError
from dsh.subagent._parent import DelegatingParent
from dsh.subagent._provider import Publish, RunReporter, SubagentProvider
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = ["Listening", "Probe"]


@final
class Probe:
    """Stands between the seam and the backend: counts, and strikes at publication."""

    def __init__(self, inner: SubagentProvider) -> None:
        self.inner = inner
        self.name = inner.name
        self.capabilities = inner.capabilities
        self.inherits_parent_context = inner.inherits_parent_context
        self.served = self.serving = self.refused = self.tried_again = 0
        self.on_serve: Callable[[ResolvedRequest], None] | None = None
        self.before_publish: Callable[[], None] | None = None
        self.after_publish: Callable[[], None] | None = None
        self.beside: Callable[[], Awaitable[None]] | None = None

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """Serve by the backend under test."""

        def probed(child_id: Any, /) -> RunReporter:
            if refusals := self.refused - refused:
                self.tried_again += refusals
            _call(self.before_publish)
            try:
                report = publish(child_id)
            except SubagentStartCancelledError:
                self.refused += 1
                raise
            _call(self.after_publish)
            return report

        refused = self.refused
        self.served += 1
        self.serving += 1
        try:
            if self.on_serve is not None:
                self.on_serve(request)
            if self.beside is None:
                return await self.inner.serve(request, publish=probed)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.beside)
                return await self.inner.serve(request, publish=probed)
        finally:
            self.serving -= 1


def _call(hook: Callable[[], None] | None) -> None:
    if hook is not None:
        hook()


@final
class Listening:
    """A parent that is overheard; everything else is the real one's."""

    def __init__(self, parent: DelegatingParent) -> None:
        self._parent = parent
        self.events: list[object] = []
        self.adopted = 0

    def dispatch(self, event: object) -> None:
        """Write down, pass on."""
        self.events.append(event)
        self._parent.dispatch(event)

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Count, pass on."""
        undo = self._parent.adopt(cancel_scope)
        self.adopted += 1

        def release() -> None:
            self.adopted -= 1
            undo()

        return release

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parent, name)
