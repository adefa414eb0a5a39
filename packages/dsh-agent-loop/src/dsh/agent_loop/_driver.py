"""Who runs an agent's turns, one after the other, and who waits for them."""

import logging
from typing import final

import trio

from dsh.agent import SelfWaitError, TurnFailed
from dsh.agent_loop._open_turn import OpenTurn
from dsh.agent_loop._taker import TurnTaker
from dsh.agent_loop._turn import run_turn

__all__ = ["Driver"]

logger = logging.getLogger("dsh.agent_loop")


@final
class Driver:
    """Runs the turns of one agent: in the task that ``serve``s, or in whichever waits for it."""

    __slots__ = (
        "_agent",
        "_changed",
        "_has_server",
        "_is_over",
        "_is_unflushed",
        "_outer_nurseries",
        "_task",
        "_wake",
        "turn",
    )

    # Invariant: self.turn is None unless self._task, the one that drives, is not

    def __init__(self, agent: TurnTaker) -> None:
        self._agent = agent
        self.turn: OpenTurn | None = None
        self._task: trio.lowlevel.Task | None = None
        self._outer_nurseries = 0
        self._has_server = False
        self._is_unflushed = False
        self._is_over = False
        self._changed: trio.Event | None = None
        self._wake: trio.Event | None = None

    # -- what the agent tells it

    def note_work(self, *, unflushed: bool = False) -> None:
        """There is a prompt, or something in the log to be flushed."""
        self._is_unflushed = self._is_unflushed or unflushed
        if self._wake is not None:
            self._wake.set()

    def note_forgotten(self) -> None:
        """What was queued is dropped: whoever waits for it need not."""
        self._note_change()

    def note_over(self) -> None:
        """The agent has ended: nobody needs to wait any more."""
        self._is_over = True
        del self._agent  # which has this driver: a cycle that only the collector could free
        self._note_change()

    # -- running turns

    async def serve(self) -> None:
        """Run whatever turns there are, until cancelled."""
        self._has_server = True
        while True:
            if self._has_work() and not self._is_ending():
                await self._drive()
            else:
                self._wake = trio.Event()
                await self._wake.wait()
                self._wake = None

    async def wait_idle(self) -> None:
        """Wait until there is nothing to do; do it here if nobody else does."""
        if self._is_inside(trio.lowlevel.current_task()):
            raise SelfWaitError(self._agent.id, "the rest")
        await trio.lowlevel.checkpoint_if_cancelled()
        while self._is_busy():
            if self._task is None and not self._has_server and not self._is_ending():
                await self._drive()
            else:
                await self._wait_for_change()

    async def wait_undriven(self) -> None:
        """Wait for the turn that a stranger's task may be running to have ended."""
        while self._task is not None:
            with trio.CancelScope(shield=True):
                await self._wait_for_change()

    @trio.lowlevel.enable_ki_protection
    async def _drive(self) -> None:
        """Run turns in the calling task until there is nothing to do."""
        self._task = trio.lowlevel.current_task()
        self._outer_nurseries = len(self._task.child_nurseries)
        try:
            if self._agent.inbox.prompts:
                self._agent.become("running")
            while self._has_work() and not self._is_ending():
                await trio.lowlevel.checkpoint_if_cancelled()
                if self._agent.inbox.prompts:
                    await self._take_turn()
                else:
                    await self._flush()
        finally:
            self._task = None
            if self._agent.status == "running":
                self._agent.become("idle")
            self._note_change()

    async def _take_turn(self) -> None:
        inbox = self._agent.inbox
        self.turn = OpenTurn(self._agent, prompts=inbox.take_prompts(), is_served=self._has_server)
        try:
            await run_turn(self.turn)
            await self._flush()
        finally:
            self.turn = None
            inbox.requeue_steering()

    async def _flush(self) -> None:
        """Have the log kept; that it was not changes no outcome (B-AGT-41)."""
        agent = self._agent
        self._is_unflushed = False
        try:
            await agent.session.flush()
        except Exception as error:  # a sink is foreign code (B-AGT-41)
            logger.exception("the log of agent %s could not be flushed", agent.id)
            agent.dispatch(TurnFailed(agent=agent, turn=agent.session.turns, step=0, error=error))

    # -- where it stands

    def _has_work(self) -> bool:
        return self._is_unflushed or bool(self._agent.inbox.prompts)

    def _is_ending(self) -> bool:
        return self._agent.status == "disposed"

    def _is_busy(self) -> bool:
        if self._is_over:
            return False
        return self._is_ending() or self._task is not None or self._has_work()

    def _is_inside(self, task: trio.lowlevel.Task) -> bool:
        """Whether *task* runs something of the open turn: it drives, or it is below that."""
        driver = self._task
        if driver is None:
            return False
        if task is driver:
            return True
        while (nursery := task.parent_nursery) is not None:
            task = nursery.parent_task
            if task is driver:
                return nursery in driver.child_nurseries[self._outer_nurseries :]
        return False

    async def _wait_for_change(self) -> None:
        if self._changed is None:  # trio's events have no truth value
            self._changed = trio.Event()
        await self._changed.wait()

    def _note_change(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
