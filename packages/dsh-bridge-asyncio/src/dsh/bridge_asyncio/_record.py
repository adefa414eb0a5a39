"""What asyncio's side knows of one run. Every method is called in asyncio's loop.

Next: `_holder.py`, which fills it in from trio's side.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any, Final, cast, final

import trio

from dsh.agent import Registration
from dsh.bridge_asyncio._errors import BridgeClosedError, BridgeCrashedError
from dsh.subagent import (
    Progress,
    SubagentResult,
    SubagentRun,
    SubagentRunError,
    SubagentStartRequest,
)

__all__ = ["RunRecord"]

logger: Final = logging.getLogger("dsh.bridge_asyncio")


@final
class RunRecord:
    """One run, from its request to its end: `opened`, `settled` and `ended` come in this order."""

    __slots__ = (
        "_failure",
        "_listeners",
        "_on_end",
        "_outcome",
        "ended",
        "opened",
        "provider",
        "request",
        "run",
        "scope",
        "settled",
    )

    def __init__(
        self,
        provider: str,
        request: SubagentStartRequest[Any],
        *,
        on_end: Callable[["RunRecord"], object],
    ) -> None:
        self.provider = provider
        self.request = request
        self.scope = trio.CancelScope()
        """Around everything trio does for it; cancelling it closes the run."""
        self.run: SubagentRun[Any] | None = None
        self.opened, self.settled, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._outcome: SubagentResult[Any] | SubagentRunError | None = None
        self._failure: Exception | None = None
        self._on_end = on_end
        self._listeners: list[Callable[[Progress], object]] = []

    @property
    def listened_to(self) -> bool:
        """Whether anybody wants progress; the one thing that trio's side reads."""
        return bool(self._listeners)

    def listen(self, listener: Callable[[Progress], object]) -> Registration:
        """Have *listener* called with all progress that follows."""
        if inspect.iscoroutinefunction(listener) or not callable(cast("object", listener)):
            raise TypeError(f"a listener of progress is a plain function, not {listener!r:.80}")
        self._listeners.append(listener)
        return Registration(lambda: self._listeners.remove(listener))

    def tell(self, event: Progress) -> None:
        """Call the listeners; what one raises is logged and disturbs nobody."""
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except Exception:  # listeners are foreign code
                logger.exception("a listener of %s raised", type(event).__name__)

    def open(self, run: SubagentRun[Any]) -> None:
        """The child is published."""
        self.run = run
        self.opened.set()

    def settle(self, outcome: SubagentResult[Any] | SubagentRunError) -> None:
        """The child's outcome is known; the first one stands."""
        if not self.settled.is_set():
            self._outcome = outcome
            self.settled.set()

    def end(self, failure: Exception | None = None) -> None:
        """Nothing of it runs any more; *failure* is what everybody hears who still waits."""
        if not self.ended.is_set():
            self._failure = failure
            self._on_end(self)
            for event in (self.opened, self.settled, self.ended):
                event.set()

    def check(self) -> SubagentRun[Any]:
        """Return the run once it is `opened`, or raise why there is none."""
        if self.run is None:
            raise self._failure or BridgeClosedError()
        return self.run

    def result(self) -> SubagentResult[Any]:
        """Return the outcome once it is `settled`, or raise a fresh error of that kind."""
        outcome = self._outcome
        if isinstance(outcome, SubagentRunError):
            raise SubagentRunError(outcome.provider, outcome.child_id, outcome.__cause__ or outcome)
        if outcome is None:
            cause = None if self._failure is None else self._failure.__cause__
            raise BridgeClosedError() if cause is None else BridgeCrashedError(cause)
        return outcome
