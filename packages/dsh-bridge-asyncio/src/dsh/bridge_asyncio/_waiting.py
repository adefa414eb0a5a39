"""Waits of asyncio's side that a cancellation cannot cut short."""

import asyncio

__all__ = ["wait_through"]


async def wait_through(event: asyncio.Event) -> None:
    """Wait for *event* whatever happens to the calling task, which hears of it afterwards.

    Raises:
      asyncio.CancelledError: The task was cancelled meanwhile, however often; the first one.
    """
    cancelled: asyncio.CancelledError | None = None
    while not event.is_set():
        try:
            await event.wait()
        except asyncio.CancelledError as exc:
            cancelled = cancelled or exc
    if cancelled is not None:
        try:
            raise cancelled
        finally:
            del cancelled  # an error that its own traceback leads to is a cycle
