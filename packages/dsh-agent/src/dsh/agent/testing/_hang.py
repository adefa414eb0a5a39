"""A bound that nothing holds up: no shield, no close that waits for ever."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import trio

from dsh.agent.testing._tasks import below, whereabouts
from dsh.agent.testing._trial import HangError
from dsh.agent.testing._trio_private import enclosing_scopes

__all__ = ["ends_within"]

T = TypeVar("T")


async def ends_within(seconds: float, run: Callable[[], Awaitable[T]]) -> T:
    """Await ``run()`` in the calling task and return what it returns.

    Unlike ``trio.fail_after`` it ends a block that is shielded: past the bound it takes down the
    shields around every task below and cancels. Only for tests, since what it interrupts was
    entitled to finish. *seconds* are those of trio's clock. Code that goes on waiting after it was
    cancelled, and threads, cannot be ended by anything.

    What ``run()`` raises comes in the group of a nursery.

    Raises:
      HangError: The bound was passed; ``waiting`` says where each task was.
    """
    waiting: list[str] = []
    rescue = trio.CancelScope()
    main = trio.lowlevel.current_task()

    async def watch() -> None:
        await trio.sleep(seconds)
        around = {task: [*enclosing_scopes(task)] for task in below(main)}
        inside = {task: scopes for task, scopes in around.items() if rescue in scopes}
        waiting.extend(sorted(map(whereabouts, inside)))
        rescue.cancel("took too long")
        for scopes in inside.values():
            for scope in scopes[: scopes.index(rescue)]:
                scope.shield = False

    results: list[T] = []
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            with rescue:
                results.append(await run())
            nursery.cancel_scope.cancel()
    except Exception as exc:  # passed on, or the cause of the hang's error
        if waiting:  # whatever broke on the way out, the hang came first
            raise HangError(f"not over after {seconds:g} s", tuple(waiting)) from exc
        raise
    if waiting:
        raise HangError(f"not over after {seconds:g} s", tuple(waiting))
    (result,) = results
    return result
