"""Cancelled everywhere, three runs deep: no handle lost, no event unpaired, nothing left."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, final

import pytest
import trio

from dsh.agent import AgentId
from dsh.agent.testing import SweepStage, assert_no_leaks, faults, sweep
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    RunEnded,
    RunStarted,
    SubagentError,
    SubagentResult,
    SubagentRun,
    SubagentService,
    SubagentStartRequest,
)
from dsh.subagent._child import Child
from dsh.subagent._supervisor import Supervisor
from dsh.subagent.testing import ScriptedParent, ScriptedProvider

DEPTH = 3


async def pass_time(seconds: float) -> None:
    """Let virtual seconds go by."""
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


@final
class Tree:
    """A backend whose children delegate on, to a depth of three, and clean up slowly and badly."""

    def __init__(self) -> None:
        self.service = SubagentService()
        self.provider = ScriptedProvider(self.act)
        self.parents: list[ScriptedParent] = []
        self.held: list[str] = []

    async def act(self, request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Any:
        depth = request.parent.depth + 1
        async with ScriptedParent(id=child_id, depth=depth) as child:
            self.parents.append(child)
            await self.prepare()
            report = publish(child_id)
            self.held.append(child_id)
            try:
                if depth < DEPTH:
                    await self.delegate(child)
                await pass_time(1)
            finally:
                report.partial(SubagentResult(stop_reason="aborted"))
                with trio.CancelScope(shield=True):
                    await pass_time(1)
                self.held.remove(child_id)
                if depth == DEPTH - 1 and trio.current_effective_deadline() < 0:
                    raise ValueError("a clean-up that fails")
        return SubagentResult(stop_reason="completed")

    async def prepare(self) -> None:
        """What a backend does before it publishes; cancelled, one of its tasks raises."""

        async def careless() -> None:
            try:
                await pass_time(1)
            finally:
                if trio.current_effective_deadline() < 0:
                    raise ValueError("a preparation that fails")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(careless)

    async def delegate(self, parent: ScriptedParent) -> None:
        """Start, wait and close; every way it can fail is a `SubagentError`."""
        with suppress(SubagentError):
            request = SubagentStartRequest(prompt="go", parent=parent)
            async with await self.service.start("scripted", request) as run:
                await run.result()

    def check(self) -> None:
        """Every start has its end, in its parent's scope, and nothing runs."""
        for parent in self.parents:
            kinds = [type(e) for e in parent.events if isinstance(e, RunStarted | RunEnded)]
            assert kinds in ([], [RunStarted, RunEnded]), kinds
            assert not parent.adopted, f"{parent} has adopted scopes"


async def hold(root: ScriptedParent, *, task_status: trio.TaskStatus[None]) -> None:
    async with root:
        task_status.started()
        await trio.sleep_forever()


async def three_deep(stage: SweepStage) -> None:
    """One delegation; cut by its caller, by shutdown, by disposals, by its provider's removal."""
    tree = Tree()
    root = ScriptedParent(id="root")
    tree.parents.append(root)
    registration = tree.service.register(tree.provider)
    with stage.scope("shutdown"):
        async with trio.open_nursery() as nursery:
            await nursery.start(hold, root)  # in a task of its own: starts are driven from outside
            with (
                assert_no_leaks(lambda: tree.held),
                stage.route("removal", registration.close),
                stage.route("disposal", root.dispose),
                stage.route("disposal of the youngest", lambda: tree.parents[-1].dispose()),
                stage.scope("caller"),
            ):
                await tree.delegate(root)
            with stage.settled():
                tree.check()
                again = ScriptedParent(id="again")
                tree.parents.append(again)
                tree.service.register(ScriptedProvider(name="again"))
                async with again:
                    request = SubagentStartRequest(prompt="go", parent=again)
                    assert (await tree.service.run("again", request)).completed
            root.dispose()
    tree.check()


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """What the clean-ups raise is logged thousands of times."""
    caplog.set_level("CRITICAL", logger="dsh.subagent")


@pytest.mark.guarantee("B-SEAM-15", "B-SEAM-33")
def test_cancelled_anywhere_a_tree_of_runs_leaves_nothing() -> None:
    """Whoever cancels, and whenever: all starts have their ends, and no child outlives its run."""
    report = sweep(three_deep, seeds=(0, 1), sides=("before", "after"), pairs=150)
    print(report)
    report.check()


@contextmanager
def no_supervisor() -> Generator[None]:
    """Nobody watches over the backend: it runs in the parent's nursery as it is."""

    async def supervise(self: Any, *, task_status: trio.TaskStatus[SubagentRun[Any]]) -> None:
        self.entered, task = True, trio.lowlevel.current_task()
        children: list[Child] = []

        def publish(child_id: AgentId, /) -> Child:
            children.append(child := Child(child_id, self._request, scope=self._scope))
            task_status.started(SubagentRun(child, scope=self._scope, supervisor=task))
            child.start()
            return child

        try:
            with self._scope:
                result = await self._provider.serve(self._request, publish=publish)
                children[0].settle(result)
        finally:
            self._release()
            for child in children:
                child.settle(SubagentResult(stop_reason="aborted"))
                child.mark_quiescent()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Supervisor, "supervise", supervise)
        yield


@contextmanager
def raise_before_publication() -> Generator[None]:
    """What a preparation raises is passed on as it came, in the groups it came in."""
    original = vars(Supervisor)["_raised"]

    def raised(self: Any, exc: BaseException) -> BaseException | None:
        return exc if self._child is None else original(self, exc)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Supervisor, "_raised", raised)
        yield


@pytest.mark.parametrize(
    "plant",
    [
        faults.checkpoint_after_start,
        faults.unshielded,
        lambda: faults.skipped(SubagentRun, "aclose"),
        lambda: faults.delayed(Child, "start"),
        raise_before_publication,
        no_supervisor,
        lambda: faults.skipped(Child, "cancelled"),
    ],
    ids=[
        "a checkpoint after nursery.start",
        "an unshielded close",
        "a run that is not closed",
        "a late announcement",
        "a raise before publication",
        "no supervisor",
        "a run that is not settled",
    ],
)
def test_the_sweep_finds_a_planted_fault(
    plant: Callable[[], AbstractContextManager[None]],
) -> None:
    with plant():
        report = sweep(three_deep, max_failures=1, pairs=150)
    assert report.failures, f"not found: {report}"
