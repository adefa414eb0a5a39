"""Cancelling: the result is there at once, the process is gone when the run is closed."""

import time
from typing import Any

import pytest
import trio

from dsh.subagent import Progress, RunEnded
from dsh.subagent.testing import ScriptedParent

HANGING = {"steps": [{"text": "so far"}, {"hang": True}]}


@pytest.mark.guarantee("B-ACP-10", "B-ACP-11")
@pytest.mark.field_case("B218")
async def test_a_cancelled_run_settles_at_once_and_tells_the_agent_once(bench: Any) -> None:
    """However often it is cancelled, the run settles as aborted at once with the text so far, and
    the agent hears of it once."""
    async with await bench.start(HANGING) as run:
        await bench.works()
        await bench.works()
        run.cancel("enough")
        run.cancel("really")
        result = await run.result()
    assert (result.stop_reason, result.text, result.detail) == ("aborted", "so far", "enough")
    assert len(bench.heard("session/cancel")) == 1
    assert not bench.children()


@pytest.mark.guarantee("B-ACP-10", "B-ACP-14")
@pytest.mark.field_case("B104")
async def test_an_agent_that_ignores_everything_delays_no_result(bench: Any) -> None:
    """A cancelled run settles without the agent's help, and closing it ends an agent that ignores
    the cancel, the end of its input and SIGTERM."""
    stubborn = {"ignore_cancel": True, "ignore_eof": True, "ignore_term": True} | HANGING
    run = await bench.start(stubborn, eof_grace=0.4, term_grace=0.4)
    await bench.works()
    await bench.works()
    began = time.monotonic()
    run.cancel("enough")
    result = await run.result()
    settled = time.monotonic() - began
    assert result.stop_reason == "aborted"
    assert bench.children()
    await run.aclose()
    assert not bench.children()
    assert settled < 0.4 <= time.monotonic() - began


@pytest.mark.field_case("B104")
async def test_what_a_cancelled_agent_says_late_reaches_nobody(bench: Any) -> None:
    script = {"steps": [{"text": "so far"}, {"hang": True, "late": 3}]}
    async with await bench.start(script) as run:
        await bench.works()
        await bench.works()
        run.cancel()
        result = await run.result()
        told = len(bench.parent.heard(Progress))
    assert result.text == "so far"
    assert len(bench.parent.heard(Progress)) == told
    assert bench.parent.events[-1] is bench.parent.heard(RunEnded)[0]


@pytest.mark.field_case("B111")
async def test_a_deadline_ends_a_productive_child_and_keeps_its_text(bench: Any) -> None:
    scope = trio.CancelScope()
    async with await bench.start(HANGING, request=bench.request(cancel_scope=scope)) as run:
        await bench.works()
        await bench.works()
        scope.deadline = trio.current_time()
        result = await run.result()
    assert (result.stop_reason, result.text) == ("timeout", "so far")
    assert result.detail == "the deadline passed"


@pytest.mark.guarantee("B-ACP-13")
async def test_a_crash_in_answer_to_a_cancel_is_still_aborted(bench: Any) -> None:
    """What becomes of the agent once it was cancelled changes nothing: the run was aborted."""
    script = HANGING | {"crash": {"session/cancel": 9}}
    async with await bench.start(script) as run:
        await bench.works()
        await bench.works()
        run.cancel()
        assert (await run.result()).stop_reason == "aborted"
    assert not bench.children()


@pytest.mark.guarantee("B-ACP-14")
async def test_closing_twice_is_one_closing(bench: Any) -> None:
    """Several who close a run at work share one closing, and none returns before the process is
    gone."""
    run = await bench.start(HANGING)
    await bench.works()

    async def close() -> None:
        await run.aclose()
        assert not bench.children()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(close)
        nursery.start_soon(close)
    await close()
    assert len(bench.heard("session/cancel")) == 1


@pytest.mark.guarantee("B-PROC-05", "B-PROC-09")
async def test_an_agent_has_time_to_end_its_own_children(bench: Any) -> None:
    """Closing waits for an agent that needs a while after the end of its input, and sends no
    signal meanwhile."""
    eof, term = bench.folder / "eof", bench.folder / "term"
    script = HANGING | {"eof_marker": str(eof), "eof_delay": 0.3, "term_marker": str(term)}
    async with await bench.start(script, eof_grace=10) as run:
        await bench.works()
        run.cancel()
    assert eof.exists()
    assert not term.exists()


@pytest.mark.guarantee("B-ACP-16", "B-PROC-12")
async def test_the_configured_graces_reach_the_ladder(bench: Any) -> None:
    """How long each rung of the ladder takes is the configuration's word."""
    term = bench.folder / "term"
    script = {"ignore_eof": True, "ignore_term": True, "term_marker": str(term)}
    began = time.monotonic()
    result = await bench.run(script, eof_grace=0.3, term_grace=0.4)
    assert result.completed
    assert term.exists()
    assert 0.7 <= time.monotonic() - began < 10


async def test_a_run_is_closed_though_its_parent_ends(bench: Any) -> None:
    async with ScriptedParent(cwd="/") as parent:
        run = await bench.start(HANGING, request=bench.request(parent=parent))
        await bench.works()
        await bench.works()
    assert (await run.result()).stop_reason == "aborted"
    assert not bench.children()
