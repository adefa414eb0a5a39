"""A run: the handle of a published child, from `start` to `aclose`.

Next: `_supervisor.py`, the task behind it.
"""

from collections.abc import Callable
from typing import Any, Generic, cast, final

import trio
from typing_extensions import TypeVar

from dsh.agent import AgentId, Registration
from dsh.subagent._child import Child
from dsh.subagent._errors import SubagentSelfCloseError
from dsh.subagent._progress import Progress
from dsh.subagent._result import SubagentResult

__all__ = ["SubagentRun"]

T_co = TypeVar("T_co", covariant=True, default=object)


@final
class SubagentRun(Generic[T_co]):
    """A published child. Whoever started it closes it: ``async with run``.

    A run that is left open lives until its parent ends. Removing its provider does not touch it.
    """

    __slots__ = ("_child", "_scope", "_supervisor")

    def __init__(
        self, child: Child, *, scope: trio.CancelScope, supervisor: trio.lowlevel.Task
    ) -> None:
        self._child = child
        self._scope = scope
        self._supervisor = supervisor

    @property
    def id(self) -> AgentId:
        """The child's id."""
        return self._child.id

    @property
    def provider(self) -> str:
        """The name of the provider that serves it."""
        return self._child.request.provider

    @property
    def parent_id(self) -> AgentId:
        """The id of the agent it was started for."""
        return self._child.request.parent_id

    async def result(self) -> SubagentResult[T_co]:
        """Wait for the outcome, as often as you like; cancelling the wait leaves the child alone.

        A child that failed, was cancelled or gave up is a value, told apart by ``stop_reason``.

        Raises:
          SubagentRunError: The backend itself failed; what it raised is the ``__cause__``.
        """
        await self._child.settled.wait()
        return cast("SubagentResult[T_co]", self._child.result())

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel the child; its result says ``aborted``, with the reason as its detail.

        What it had left as completed stays completed; a settled run keeps its result.
        """
        self._scope.cancel(reason)

    def on_progress(self, listener: Callable[[Progress], Any]) -> Registration:
        """Call *listener* with everything the backend tells from now on.

        It is a plain function; one that raises is logged and never disturbs the child. Closing what
        is returned takes it back.

        Raises:
          TypeError: *listener* is async, or nothing that can be called.
        """
        return self._child.listen(listener)

    async def aclose(self) -> None:
        """Cancel what still runs and return once nothing of the child does.

        Closing again, or from several tasks at once, is the same closing. The wait cannot be
        cancelled; how long it takes is up to the backend.

        Raises:
          SubagentSelfCloseError: The calling task is one that the run itself waits for.
        """
        if self._child.is_quiescent:
            return
        if self._is_inside():
            raise SubagentSelfCloseError(self.id)
        self._scope.cancel("the run was closed")
        with trio.CancelScope(shield=True):
            await self._child.wait_quiescent()

    def _is_inside(self) -> bool:
        """Whether the calling task lives below the supervisor, in the tree of nurseries."""
        task: trio.lowlevel.Task | None = trio.lowlevel.current_task()
        while task is not None and task is not self._supervisor:
            nursery = task.parent_nursery
            task = None if nursery is None else nursery.parent_task
        return task is not None

    async def __aenter__(self) -> "SubagentRun[T_co]":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        child = self._child
        state = child.stop_reason or "live"
        if child.is_quiescent:
            state += ", quiescent"
        return f"<SubagentRun {child.id!r} of {self.provider!r}: {state}>"
