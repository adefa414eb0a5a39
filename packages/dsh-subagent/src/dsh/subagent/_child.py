"""One published child: what its backend reported, and how it was settled.

Next: `_run.py`, the handle its holder sees.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from dsh.agent import AgentId, DelegatedUsage, Registration, Usage
from dsh.subagent._ending import Cancellation, Interruption, unwrapped
from dsh.subagent._errors import SubagentRunError, described
from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._progress import Progress
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult
from dsh.tools_jsonschema import StructuredValueError

__all__ = ["Child", "tell"]

logger: Final = logging.getLogger("dsh.subagent")


def tell(listener: Callable[[Any], object], event: object) -> None:
    """Call a foreign *listener*; what it raises is logged and disturbs nobody (B-SEAM-23)."""
    try:
        listener(event)
    except Exception:
        logger.exception("a listener of %s raised", type(event).__name__)


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
        "_result",
        "_start_telling",
        "id",
        "quiescent",
        "request",
        "settled",
    )

    def __init__(self, id: AgentId, request: ResolvedRequest) -> None:
        self.id = id
        self.request = request
        self.settled = trio.Event()
        self.quiescent = trio.Event()
        self._began = trio.current_time()
        self._result: SubagentResult[Any] | None = None
        self._failure: BaseException | None = None
        self._partial: SubagentResult[Any] | None = None
        self._listeners: list[Callable[[Progress], object]] | None = None
        self._start_telling: Callable[[], object] | None = None

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
            tell(listener, stamped)
        tell(request.parent.dispatch, stamped)

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
        checked(result)
        if not self.settled.is_set():
            self._result = settled = self._completed(result, instead="error")
            self._announce(settled, settled.output, settled.detail)

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
        tell(request.parent.dispatch, event)

    def cancelled(self, why: Cancellation) -> None:
        """Settle with what the backend left, or bare."""
        if self.settled.is_set():
            return
        left = self._partial or SubagentResult(stop_reason=why.stop_reason)
        if left.stop_reason == "aborted":
            left = replace(left, stop_reason=why.stop_reason)
        if not left.completed:
            left = replace(left, detail=left.detail or why.detail)
        self._result = settled = self._completed(left, instead=why.stop_reason)
        self._announce(settled, settled.output, settled.detail)

    def interrupted(self, why: Interruption) -> None:
        """Settle bare: nobody waits for what the backend left."""
        detail = type(unwrapped(why.passing)).__name__
        self.settle(SubagentResult(stop_reason="aborted", detail=detail))

    def failed(self, error: BaseException) -> None:
        """Settle with the backend's own failure; a later one is logged."""
        if self.settled.is_set():
            logger.error("child %r failed after it had settled", self.id, exc_info=error)
            return
        self._failure = error
        self._announce(self._partial, None, described(error))

    def _completed(self, result: SubagentResult[Any], *, instead: str) -> SubagentResult[Any]:
        """Fill in what the seam knows; a completed end without its value becomes *instead*."""
        value, problem = result.value, None
        if value is None and (result.completed or result.structured is not None):
            value, problem = _parsed(self.request, result.structured)
        short = problem is not None and result.completed
        return replace(
            result,
            stop_reason=instead if short else result.stop_reason,
            output=tuple(result.output),
            value=value,
            detail=problem if short else result.detail,
            seconds=result.seconds or trio.current_time() - self._began,
            child_id=self.id,
        )

    def _announce(
        self,
        counted: SubagentResult[Any] | None,
        output: tuple[Any, ...] | None,
        detail: str | None,
    ) -> None:
        self.settled.set()
        request, dispatch = self.request, self.request.parent.dispatch
        if counted is not None and _is_counted(counted):
            usage = DelegatedUsage(
                child_id=self.id,
                usage=counted.usage or Usage(),
                model_requests=counted.model_requests or 0,
                tool_calls=counted.tool_calls or 0,
            )
            tell(dispatch, usage)
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
        tell(dispatch, ended)


def checked(result: SubagentResult[Any]) -> SubagentResult[Any]:
    """Return *result*, or refuse what is none.

    Raises:
      TypeError: A backend gave something else.
    """
    if not isinstance(cast("object", result), SubagentResult):
        raise TypeError(f"a backend gives a SubagentResult, not {type(result).__name__}")
    if not isinstance(cast("object", result.stop_reason), str):
        raise TypeError(f"stop_reason is a str, not {type(result.stop_reason).__name__}")
    if not isinstance(cast("object", result.output), tuple | list):
        raise TypeError(f"output is a tuple of blocks, not {type(result.output).__name__}")
    return result


def _parsed(request: ResolvedRequest, structured: object) -> tuple[Any, str | None]:
    """Return the value asked for, or what is wrong with *structured*."""
    try:
        return request.parse(structured), None
    except StructuredValueError as exc:
        return None, str(exc)
    except Exception as exc:  # noqa: BLE001 - a type's own validator may raise anything
        return None, described(exc)


def _is_counted(result: SubagentResult[Any]) -> bool:
    return any(
        count is not None for count in (result.usage, result.model_requests, result.tool_calls)
    )
