"""The task that owns a run: enter its scope, serve it, settle it once, mark it quiescent.

What `serve` did becomes what the caller of `start`, the holder of the run and the listeners see, by
one table:

=================================  =======================  ==========================  ===========
``serve`` ...                      ``start()``              ``result()``                events
=================================  =======================  ==========================  ===========
returns after publication          the run                  that result                 start, end
raises after publication           the run                  `SubagentRunError` from it  start, end
is cancelled after publication     the run                  what was left, or bare      start, end
is interrupted after publication   the run                  ``aborted``; passes on      start, end
raises before publication          raises it                --                          none
is cancelled before publication    start cancelled error    --                          none
returns without publishing         `SubagentStartError`     --                          none
=================================  =======================  ==========================  ===========

An interrupt is a ``KeyboardInterrupt`` or its like. Groups of one are unwrapped everywhere.

Next: `_service.py`, which starts it.
"""

import logging
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, assert_never, cast, final

import trio
from trio.lowlevel import disable_ki_protection, enable_ki_protection

from dsh.agent import AgentId, HarnessError
from dsh.subagent._admission import refuse_used_scope
from dsh.subagent._child import Child
from dsh.subagent._ending import Cancellation, Failure, Interruption, ending_of
from dsh.subagent._errors import (
    SubagentPublishError,
    SubagentStartCancelledError,
    SubagentStartError,
    described,
)
from dsh.subagent._provider import Publish, RunReporter, SubagentProvider
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult
from dsh.subagent._run import SubagentRun

__all__ = ["Supervisor"]

_logger: Final = logging.getLogger("dsh.subagent")


@final
class Supervisor:
    """Owns one run. `supervise` is its task, to be started in the parent's nursery."""

    __slots__ = (
        "_child",
        "_detail",
        "_provider",
        "_refused",
        "_release",
        "_request",
        "_scope",
        "_status",
        "_task",
        "cause",
        "entered",
    )

    def __init__(
        self,
        provider: SubagentProvider,
        request: ResolvedRequest,
        *,
        scope: trio.CancelScope,
        release: Callable[[], None],
    ) -> None:
        self._provider = provider
        self._request = request
        self._scope = scope
        self._release = release
        self._task: trio.lowlevel.Task | None = None
        self._status: trio.TaskStatus[SubagentRun[Any]] | None = None
        self._child: Child | None = None
        self._refused = False
        self._detail: str | None = None
        self.cause: BaseException | None = None
        """Where the error of a failed start came from; trio before 0.34 loses it on the way."""
        self.entered = False

    @enable_ki_protection
    async def supervise(self, *, task_status: trio.TaskStatus[SubagentRun[Any]]) -> None:
        """Own the run from before its publication to its quiescence; takes back the adoption."""
        self.entered = True
        self._status, self._task = task_status, trio.lowlevel.current_task()
        del task_status  # it keeps the nursery of `nursery.start` alive, long after its end
        try:
            refuse_used_scope(self._scope)
            with self._scope:
                instead: BaseException | None = None
                try:
                    self._returned(await _serve(self._provider, self._request, self._publish))
                except BaseException as exc:  # judged by the table, whatever left the backend
                    instead = self._raised(exc)
                    if instead is exc:
                        del instead  # an error that its own traceback leads to is a cycle
                        raise
                if instead is not None:
                    try:
                        raise instead
                    finally:
                        del instead
            if self._child is None:
                raise self._start_cancelled()
        finally:
            self._status = None
            try:
                self._release()
            finally:  # a parent's undo that raises is the parent's to bear, not the holder's
                if self._child is not None:
                    self._child.mark_quiescent()

    @enable_ki_protection
    def _publish(self, child_id: AgentId, /) -> RunReporter:
        """Hand the run to the caller of `start`, all or nothing; see `SubagentProvider.serve`."""
        if not isinstance(cast("object", child_id), str) or not child_id:
            raise TypeError(f"a child id is a non-empty str, not {type(child_id).__name__}")
        if self._child is not None:
            raise SubagentPublishError(f"child {self._child.id!r} was published already")
        if self._status is None or self._task is None:
            raise SubagentPublishError(f"child {child_id!r} was published after serve had ended")
        if self._refused or self._scope.cancel_called:  # reading it makes a passed deadline count
            self._refused = True
            raise self._start_cancelled()
        child = Child(child_id, self._request, scope=self._scope)
        self._status.started(SubagentRun(child, scope=self._scope, supervisor=self._task))
        if self._task.eventual_parent_nursery is not None:  # trio did not move it
            self._refused = True
            raise self._start_cancelled()
        self._child, self._status = child, None
        child.start()
        return child

    def _returned(self, result: SubagentResult[Any]) -> None:
        if self._refused:
            raise self._start_cancelled()
        if self._child is None:
            raise SubagentStartError(
                f"subagent provider {self._request.provider!r} returned without publishing a child"
            )
        self._child.settle(result)

    def _raised(self, exc: BaseException) -> BaseException | None:
        """Settle by what *exc* means; return what must go on in its stead."""
        cancel_called = self._scope.cancel_called
        ending = ending_of(
            exc,
            cancelled=cancel_called or trio.current_effective_deadline() == -math.inf,
            deadline_passed=self._scope.deadline <= trio.current_time(),
        )
        match ending:
            case Failure():
                return self._failed(ending)
            case Cancellation():
                self._detail = ending.detail
                if self._child is not None:
                    self._child.cancelled(ending)
            case Interruption():
                if self._child is not None:
                    self._child.interrupted(ending)
            case _:
                assert_never(ending)
        if ending.error is not None and not isinstance(ending.error, SubagentStartCancelledError):
            _logger.error(
                "subagent provider %r raised while it was being cancelled",
                self._request.provider,
                exc_info=ending.error,
            )
        if ending.passing is None and self._child is None:
            return self._start_cancelled(exc)
        return ending.passing

    def _failed(self, failure: Failure) -> BaseException | None:
        error = failure.error
        if self._child is not None:
            self._child.failed(error)
            return failure.passing
        if self._refused and not isinstance(error, SubagentStartCancelledError):
            return self._start_cancelled(error)
        if isinstance(error, HarnessError):
            self.cause = error.__cause__
            return error
        failed = SubagentStartError(
            f"subagent provider {self._request.provider!r} could not start a child: "
            f"{described(error)}"
        )
        self.cause = failed.__cause__ = error
        return failed

    def _start_cancelled(self, cause: BaseException | None = None) -> SubagentStartCancelledError:
        why = "" if self._detail is None else f" ({self._detail})"
        error = SubagentStartCancelledError(
            f"the start of a child by subagent provider {self._request.provider!r} was cancelled "
            f"before publication{why}; nothing was published"
        )
        self.cause = error.__cause__ = cause
        return error


@disable_ki_protection
async def _serve(
    provider: SubagentProvider, request: ResolvedRequest, publish: Publish
) -> SubagentResult[Any]:
    """Run foreign code: the protection of the supervisor does not extend to it."""
    return await provider.serve(request, publish=publish)


if TYPE_CHECKING:
    _: type[RunReporter] = Child
