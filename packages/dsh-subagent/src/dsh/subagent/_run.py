"""A run and its supervisor: one class owns a child from publication to quiescence."""

from collections.abc import Callable
from typing import Any, final

import trio

from dsh.agent import AgentId
from dsh.subagent._errors import (
    SubagentRunError,
    SubagentStartCancelledError,
    SubagentStartError,
)
from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._provider import SubagentProvider
from dsh.subagent._request import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = ["SubagentRun", "supervise"]


@final
class SubagentRun:
    """A published child. Whoever started it closes it: ``async with run``."""

    # Invariant: not self._settled.is_set() or (self._result is None) != (self._error is None)

    def __init__(self, id: AgentId, request: ResolvedRequest, scope: trio.CancelScope) -> None:
        self.id = id
        self._request = request
        self._scope = scope
        self._settled = trio.Event()
        self._quiescent = trio.Event()
        self._result: SubagentResult[Any] | None = None
        self._partial: SubagentResult[Any] | None = None
        self._error: SubagentRunError | None = None

    async def result(self) -> SubagentResult[Any]:
        """Wait for the outcome, as often as you like.

        Raises:
          SubagentRunError: the backend itself failed.
        """
        await self._settled.wait()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel the child; its result says ``aborted`` unless it had completed."""
        self._scope.cancel(reason)

    async def aclose(self) -> None:
        """Cancel what still runs and return at quiescence."""
        self._scope.cancel("the run was closed")
        with trio.CancelScope(shield=True):
            await self._quiescent.wait()

    async def __aenter__(self) -> "SubagentRun":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    # What follows is the supervisor's side.

    def progress(self, event: object) -> None:
        self._request.parent.dispatch(event)

    def partial(self, result: SubagentResult[Any]) -> None:
        self._partial = result

    def settle(self, result: SubagentResult[Any]) -> None:
        if not self._settled.is_set():
            self._result = result
            self._announce(result.stop_reason)

    def fail(self, error: BaseException) -> None:
        if not self._settled.is_set():
            self._error = SubagentRunError(f"the backend failed: {error!r}")
            self._error.__cause__ = error
            self._announce("error")

    def abandon(self) -> None:
        self.settle(self._partial or SubagentResult(stop_reason="aborted", child_id=self.id))

    def _announce(self, stop_reason: str) -> None:
        self._settled.set()
        request = self._request
        request.parent.dispatch(
            RunEnded(
                provider=request.provider,
                child_id=self.id,
                parent_id=request.parent.id,
                stop_reason=stop_reason,
            )
        )


async def supervise(
    provider: SubagentProvider,
    request: ResolvedRequest,
    scope: trio.CancelScope,
    release: Callable[[], None],
    *,
    task_status: trio.TaskStatus[SubagentRun],
) -> None:
    """Own one run: enter its scope, serve it, settle it once, mark it quiescent."""
    task = trio.lowlevel.current_task()
    run: SubagentRun | None = None

    def publish(child_id: AgentId, /) -> SubagentRun:
        nonlocal run
        if scope.cancel_called:
            raise SubagentStartCancelledError("the start was cancelled before publication")
        published = SubagentRun(child_id, request, scope)
        task_status.started(published)
        if task.eventual_parent_nursery is not None:
            raise SubagentStartCancelledError("the caller of start was cancelled")
        run = published
        request.parent.dispatch(
            RunStarted(provider=request.provider, child_id=child_id, parent_id=request.parent.id)
        )
        return published

    try:
        with scope:
            result = await provider.serve(request, publish=publish)
            if run is not None:
                run.settle(result)
        if run is None:
            raise SubagentStartError("the backend ended without publishing a child")
    except Exception as exc:
        if run is None:
            raise
        run.fail(exc)
    finally:
        release()
        if run is not None:
            run.abandon()
            run._quiescent.set()
