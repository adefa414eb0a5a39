"""A run held from asyncio's side.

Next: `_record.py`, what it shows.
"""

from collections.abc import Callable
from typing import Generic, cast, final

from typing_extensions import TypeVar

from dsh.agent import AgentId, Registration
from dsh.bridge_asyncio._line import Line
from dsh.bridge_asyncio._record import RunRecord
from dsh.bridge_asyncio._waiting import wait_through
from dsh.subagent import Progress, SubagentResult

__all__ = ["BridgeRun"]

T_co = TypeVar("T_co", covariant=True, default=object)


@final
class BridgeRun(Generic[T_co]):
    """A published child, as `dsh.subagent.SubagentRun`: whoever started it closes it.

    Its scopes live in a trio task of their own, so any task of asyncio's loop may use and close it.
    A run that is left open lives until the bridge closes.
    """

    __slots__ = ("_line", "_record")

    def __init__(self, record: RunRecord, line: Line) -> None:
        self._record = record
        self._line = line

    @property
    def id(self) -> AgentId:
        """The child's id."""
        return self._record.check().id

    @property
    def provider(self) -> str:
        """The name of the provider that serves it."""
        return self._record.provider

    @property
    def parent_id(self) -> AgentId:
        """The id of the parent it was started for."""
        return self._record.check().parent_id

    async def result(self) -> SubagentResult[T_co]:
        """Wait for the outcome, as often as you like; cancelling the wait leaves the child alone.

        Raises:
          SubagentRunError: The backend itself failed; what it raised is the ``__cause__``.
          BridgeCrashedError: The trio side died before there was an outcome.
        """
        self._line.demand_asyncio()
        await self._record.settled.wait()
        return cast("SubagentResult[T_co]", self._record.result())

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel the child, from any thread; its result says ``aborted``, with this reason."""
        self._line.call_trio(self._record.check().cancel, reason)

    def on_progress(self, listener: Callable[[Progress], object]) -> Registration:
        """Have *listener* called in asyncio's loop with what the backend tells from now on.

        It is a plain function; one that raises is logged. What a child tells before ``start`` has
        returned is heard by `Bridge.on` only.

        Raises:
          TypeError: *listener* is async, or nothing that can be called.
        """
        return self._record.listen(listener)

    async def aclose(self) -> None:
        """Cancel what still runs and return once nothing of the child does.

        Closing again, or from several tasks at once, is the same closing. A cancellation of the
        calling task goes on afterwards.
        """
        self._line.demand_asyncio()
        self._line.call_trio(self._record.scope.cancel, "the run was closed")
        await wait_through(self._record.ended)

    async def __aenter__(self) -> "BridgeRun[T_co]":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        record = self._record
        state = (
            "ended" if record.ended.is_set() else "settled" if record.settled.is_set() else "live"
        )
        return f"<BridgeRun {self.id!r} of {self.provider!r}: {state}>"
