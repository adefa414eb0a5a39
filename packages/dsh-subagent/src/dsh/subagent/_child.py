"""One published child: what its backend reported, and how it was settled.

Next: `_run.py`, the handle its holder sees.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from inspect import iscoroutinefunction
from typing import Any, Final, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from dsh.agent import AgentId, Registration, unwrapped
from dsh.subagent._completion import checked, completed, delegated_usage
from dsh.subagent._ending import Cancellation, Interruption, ending_of
from dsh.subagent._errors import SubagentRunError, described
from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._progress import Progress
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = ["Child"]

_logger: Final = logging.getLogger("dsh.subagent")


def _tell(listener: Callable[[Any], object], event: object) -> None:
    """Call a foreign *listener*; what it raises is logged and disturbs nobody (B-SEAM-23)."""
    try:
        listener(event)
    except Exception:  # a listener is foreign code
        _logger.exception("a listener of %s raised", type(event).__name__)


@final
class Child:
    """What is known of a published child; its backend holds it as `RunReporter`.

    Settling is one move: the first one stands, and sends the end event.
    """

    # Invariant: not settled.is_set() or (_result is None) != (_failure is None)

    __slots__ = (
        "_began",
        "_failure",
        "_listeners",
        "_partial",
        "_quiescence",
        "_result",
        "_scope",
        "_start_telling",
        "id",
        "is_quiescent",
        "request",
        "settled",
    )

    def __init__(self, id: AgentId, request: ResolvedRequest, *, scope: trio.CancelScope) -> None:
        self.id = id
        self.request = request
        self.settled = trio.Event()
        self.is_quiescent = False
        """Whether nothing of it runs any more."""
        self._quiescence: trio.Event | None = None
        self._began = trio.current_time()
        self._result: SubagentResult[Any] | None = None
        self._failure: BaseException | None = None
        self._partial: SubagentResult[Any] | None = None
        self._listeners: list[Callable[[Progress], object]] | None = None
        self._start_telling: Callable[[], object] | None = None
        self._scope = scope

    @property
    def stop_reason(self) -> str | None:
        """Why it ended, or ``None`` while it has not settled."""
        if not self.settled.is_set():
            return None
        return "error" if self._result is None else self._result.stop_reason

    def result(self) -> SubagentResult[Any]:
        """Return the settled result, or raise a fresh `SubagentRunError`."""
        if self._failure is not None:
            raise SubagentRunError(self.request.provider, self.id, self._failure)
        assert self._result is not None
        return self._result

    def listen(self, listener: Callable[[Progress], object]) -> Registration:
        """Have *listener* called with all progress that follows."""
        if iscoroutinefunction(listener) or not callable(cast("object", listener)):
            raise TypeError(f"a listener of progress is a plain function, not {listener!r:.80}")
        if self._listeners is None:
            self._listeners = []
        listeners = self._listeners
        listeners.append(listener)
        self._start_if_heard()
        return Registration(lambda: listeners.remove(listener))

    # The backend's side: `RunReporter`.

    def progress(self, event: Progress, /) -> None:
        """See `RunReporter.progress`."""
        if not isinstance(cast("object", event), Progress):
            raise TypeError(f"progress takes a Progress, not {type(event).__name__}")
        if not trio.lowlevel.in_trio_run():
            raise RuntimeError("progress was told in a thread: use trio.from_thread.run_sync")
        if self.settled.is_set():
            return
        request = self.request
        stamped = replace(
            event,
            child_id=self.id,
            parent_id=request.parent_id,
            parent_call_id=request.parent_call_id,
        )
        for listener in tuple(self._listeners or ()):
            _tell(listener, stamped)
        _tell(request.parent.dispatch, stamped)

    def when_heard(self, start: Callable[[], object], /) -> None:
        """See `RunReporter.when_heard`."""
        self._start_telling = start
        self._start_if_heard()

    def _start_if_heard(self) -> None:
        if self._start_telling is not None and self._listeners and not self.settled.is_set():
            start, self._start_telling = self._start_telling, None
            start()

    def partial(self, result: SubagentResult[Any], /) -> None:
        """See `RunReporter.partial`."""
        self._partial = checked(result)

    @enable_ki_protection
    def settle(self, result: SubagentResult[Any], /) -> None:
        """See `RunReporter.settle`."""
        if self._partial is None or result is not self._partial:  # what was left is checked
            checked(result)
        if not self.settled.is_set():
            self._result = settled = completed(
                result, self.request, child_id=self.id, began=self._began, instead="error"
            )
            self._announce(settled, settled.output, settled.detail)

    @enable_ki_protection
    def settle_cancelled(self, cancelled: trio.Cancelled, /) -> None:
        """See `RunReporter.settle_cancelled`."""
        if cancelled.source != "nursery":
            passed = self._scope.deadline <= trio.current_time()
            ending = ending_of(cancelled, cancelled=True, deadline_passed=passed)
            assert isinstance(ending, Cancellation)
            self.cancelled(ending)

    # The supervisor's side.

    def start(self) -> None:
        """Tell the parent's scope that the child is published."""
        request = self.request
        event = RunStarted(
            provider=request.provider,
            child_id=self.id,
            parent_id=request.parent_id,
            parent_call_id=request.parent_call_id,
            label=request.label,
        )
        _tell(request.parent.dispatch, event)

    def cancelled(self, why: Cancellation) -> None:
        """Settle with what the backend left, or bare."""
        if self.settled.is_set():
            return
        left = self._partial or SubagentResult(stop_reason=why.stop_reason)
        if not left.completed:
            reason = why.stop_reason if left.stop_reason == "aborted" else left.stop_reason
            left = replace(left, stop_reason=reason, detail=left.detail or why.detail)
        self._result = settled = completed(
            left, self.request, child_id=self.id, began=self._began, instead=why.stop_reason
        )
        self._announce(settled, settled.output, settled.detail)

    def interrupted(self, why: Interruption) -> None:
        """Settle bare: nobody waits for what the backend left."""
        detail = type(unwrapped(why.passing)).__name__
        self.settle(SubagentResult(stop_reason="aborted", detail=detail))

    def failed(self, error: BaseException) -> None:
        """Settle with the backend's own failure; a later one is logged."""
        if self.settled.is_set():
            _logger.error("child %r failed after it had settled", self.id, exc_info=error)
            return
        self._failure = error
        self._announce(self._partial, None, described(error))

    def mark_quiescent(self) -> None:
        """Let everyone go who waits for the end; the supervisor calls it last."""
        self.is_quiescent = True
        if self._quiescence is not None:
            self._quiescence.set()

    async def wait_quiescent(self) -> None:
        """Return once nothing of a child that is not quiescent yet runs any more."""
        if self._quiescence is None:  # trio's events have no truth value
            self._quiescence = trio.Event()
        await self._quiescence.wait()

    def _announce(
        self,
        counted: SubagentResult[Any] | None,
        output: tuple[Any, ...] | None,
        detail: str | None,
    ) -> None:
        self.settled.set()
        self._start_telling = None  # it may hold this child: a cycle
        request, dispatch = self.request, self.request.parent.dispatch
        usage = None if counted is None else delegated_usage(counted, child_id=self.id)
        if usage is not None:
            _tell(dispatch, usage)
        ended = RunEnded(
            provider=request.provider,
            child_id=self.id,
            parent_id=request.parent_id,
            parent_call_id=request.parent_call_id,
            label=request.label,
            stop_reason=self.stop_reason or "error",
            output=output,
            detail=detail,
        )
        _tell(dispatch, ended)
