"""The trio task that holds one run open until asyncio's side closes it. Trio's side.

Next: `_side.py`, which starts it.
"""

from typing import Any

import trio

from dsh.bridge_asyncio._line import Line
from dsh.bridge_asyncio._record import RunRecord
from dsh.subagent import Progress, SubagentRun, SubagentRunError, SubagentService

__all__ = ["hold"]


async def hold(
    record: RunRecord, subagents: SubagentService, *, line: Line, closing: trio.Event
) -> None:
    """Start the run of *record*, hold it, and close it when its scope is cancelled.

    Asyncio's side is told of each step. Where this task is cancelled from above and nobody is
    *closing*, the trio side is dying: what is still open is then told by the bridge, which knows of
    what.
    """
    run: SubagentRun[Any] | None = None
    failure: Exception | None = None
    try:
        with record.scope:
            try:
                run = await subagents.start(record.provider, record.request)
            except Exception as exc:  # noqa: BLE001 - whatever it is, it is for whoever asked
                failure = exc
            else:
                async with run:
                    await _attend(run, record, line)
    finally:
        if failure is not None or record.scope.cancel_called or closing.is_set():
            if run is not None:
                with trio.CancelScope(shield=True):  # no wait: a closed run has settled
                    await _settle(run, record, line)
            line.call_asyncio(record.end, failure)


async def _attend(run: SubagentRun[Any], record: RunRecord, line: Line) -> None:
    def progress(event: Progress) -> None:
        if record.listened_to:
            line.call_asyncio(record.tell, event)

    run.on_progress(progress)
    line.call_asyncio(record.open, run)
    await _settle(run, record, line)
    await trio.sleep_forever()


async def _settle(run: SubagentRun[Any], record: RunRecord, line: Line) -> None:
    try:
        line.call_asyncio(record.settle, await run.result())
    except SubagentRunError as exc:
        line.call_asyncio(record.settle, exc)
