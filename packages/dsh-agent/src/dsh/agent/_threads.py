"""Running a blocking function in a thread, which nothing can kill.

Cancelling asks it to end and waits for it. ``trio.from_thread.check_cancelled()``, called now and
then inside the function, raises once it was asked. A thread that does not end within its grace is
given up on, by name: the one case, beside a process that survives SIGKILL, in which something still
runs after the call returned.
"""

import logging
from collections.abc import Callable
from typing import Final, TypeVar, cast, final

import trio

from dsh.agent._errors import AgentError

__all__ = ["THREAD_GRACE", "ThreadLostError", "run_in_thread"]

logger = logging.getLogger("dsh.agent")

R = TypeVar("R")

THREAD_GRACE: Final = 30.0
"""Seconds that a cancelled thread is waited for."""


class ThreadLostError(AgentError):
    """A cancelled thread did not end within its grace and may still be running."""

    code = "THREAD_LOST"

    def __init__(self, thread_name: str, *, grace: float) -> None:
        super().__init__(
            f"the thread {thread_name!r} did not end within {grace:g} seconds of being cancelled "
            "and may still be running"
        )
        self.thread_name, self.grace = thread_name, grace


async def run_in_thread(work: Callable[[], R], *, name: str, grace: float = THREAD_GRACE) -> R:
    """What *work* returns, run in a thread called *name* under trio's default limiter.

    The limiter's token is held for as long as the thread really runs. Cancelled before the thread
    began, *work* never runs; cancelled later, its outcome is dropped and an error in it logged.

    Raises:
      ThreadLostError: cancelled, and *work* did not end within *grace* seconds.
    """
    lease = _Lease(trio.to_thread.current_default_thread_limiter())
    awaited = True

    def run() -> R:
        try:
            return work()
        except Exception:  # whatever the work raised passes on
            if not awaited:
                logger.exception("the thread %r failed after it was cancelled", name)
            raise

    try:
        # Abandoned, so that check_cancelled raises in the thread while we wait for it ourselves.
        return await trio.to_thread.run_sync(
            run, thread_name=name, abandon_on_cancel=True, limiter=cast(trio.CapacityLimiter, lease)
        )
    finally:
        awaited = False
        if lease.is_held:
            with trio.move_on_after(grace, shield=True):
                await lease.returned.wait()
            if lease.is_held:
                logger.error("gave up waiting for the thread %r", name)
                raise ThreadLostError(name, grace=grace)


@final
class _Lease:
    """A token of *limiter* that tells when the thread it was borrowed for has ended."""

    def __init__(self, limiter: trio.CapacityLimiter) -> None:
        self.is_held = False
        self.returned = trio.Event()
        self._limiter = limiter

    async def acquire_on_behalf_of(self, borrower: object) -> None:
        """What trio calls directly before it starts the thread."""
        await self._limiter.acquire_on_behalf_of(borrower)
        self.is_held = True

    def release_on_behalf_of(self, borrower: object) -> None:
        """What trio calls, in its own thread, once the thread has ended."""
        self._limiter.release_on_behalf_of(borrower)
        self.is_held = False
        self.returned.set()
