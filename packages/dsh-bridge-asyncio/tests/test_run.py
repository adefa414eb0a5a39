"""Runs from asyncio's side: results, errors, cancellation, progress."""

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import pytest
import trio

from dsh.agent import AgentId, StopReason
from dsh.bridge_asyncio import BridgeRun
from dsh.bridge_asyncio._record import RunRecord
from dsh.subagent import (
    Progress,
    Publish,
    ResolvedRequest,
    RunEnded,
    RunStarted,
    SubagentResult,
    SubagentRunError,
    SubagentStartError,
    SubagentStartRequest,
    TextProgress,
    UnknownProviderError,
)
from dsh.subagent.testing import ScriptedParent, fail, hang, refuse, reply

who: ContextVar[str] = ContextVar("who")


@dataclass
class Answer:
    number: int


async def together(*works: Any) -> list[Any]:
    return await asyncio.gather(*works, return_exceptions=True)


def test_a_child_answers(stand: Any) -> None:
    stand.script(reply("Forty-two."))

    async def main() -> SubagentResult[Any]:
        async with stand.open() as bridge:
            return await bridge.run("scripted", stand.request(bridge))

    result = stand.run(main)
    assert (result.stop_reason, result.text, result.child_id) == (
        "completed",
        "Forty-two.",
        "scripted-1",
    )
    stand.check()


def test_a_structured_answer_comes_as_the_type_asked_for(stand: Any) -> None:
    stand.script(reply(structured={"number": 42}))

    async def main() -> Any:
        async with stand.open() as bridge:
            request = stand.request(bridge, output_schema=Answer)
            return (await bridge.run("scripted", request)).value

    assert stand.run(main) == Answer(number=42)


def test_a_held_run_tells_its_result_as_often_as_it_is_asked(stand: Any) -> None:
    stand.script(reply("Forty-two."))

    async def main() -> None:
        async with stand.open() as bridge:
            async with await bridge.start("scripted", stand.request(bridge)) as run:
                results = await together(run.result(), run.result())
                assert (run.id, run.provider, run.parent_id) == ("scripted-1", "scripted", "root")
                assert repr(run) == "<BridgeRun 'scripted-1' of 'scripted': settled>"
            await asyncio.gather(run.aclose(), run.aclose())
            assert repr(run) == "<BridgeRun 'scripted-1' of 'scripted': ended>"
        results.append(await run.result())
        assert [result.text for result in results] == ["Forty-two."] * 3

    stand.run(main)


def test_a_cancelled_run_says_why(stand: Any) -> None:
    stand.script(hang("Well"))

    async def main() -> SubagentResult[Any]:
        async with (
            stand.open() as bridge,
            await bridge.start("scripted", stand.request(bridge)) as run,
        ):
            assert repr(run) == "<BridgeRun 'scripted-1' of 'scripted': live>"
            run.cancel("changed my mind")
            return await run.result()

    result = stand.run(main)
    assert (result.stop_reason, result.detail) == ("aborted", "changed my mind")
    assert result.text == "Well"


def test_the_deadline_of_a_request_bounds_the_child(stand: Any) -> None:
    stand.script(hang("Well"))

    async def main() -> StopReason:
        async with stand.open() as bridge:
            limit = trio.CancelScope(relative_deadline=0.01)
            request = stand.request(bridge, cancel_scope=limit)
            return (await bridge.run("scripted", request)).stop_reason

    assert stand.run(main) == "timeout"


def test_what_the_seam_refuses_arrives_as_it_is(stand: Any) -> None:
    async def main() -> None:
        async with stand.open() as bridge:
            with pytest.raises(UnknownProviderError, match="registered: scripted"):
                await bridge.run("nobody", stand.request(bridge))
            with pytest.raises(ValueError, match="prompt is empty"):
                await bridge.run("scripted", stand.request(bridge, prompt=""))

    stand.run(main)


def test_a_backend_that_cannot_start_fails_the_start(stand: Any) -> None:
    error = OSError("no such program")
    stand.script(refuse(error))

    async def main() -> None:
        async with stand.open() as bridge:
            with pytest.raises(SubagentStartError) as caught:
                await bridge.start("scripted", stand.request(bridge))
            assert caught.value.__cause__ is error

    stand.run(main)


def test_a_backend_that_fails_later_fails_each_wait_afresh(stand: Any) -> None:
    error = OSError("connection lost")
    stand.script(fail(error))

    async def main() -> None:
        async with (
            stand.open() as bridge,
            await bridge.start("scripted", stand.request(bridge)) as run,
        ):
            waits = await together(run.result(), run.result())
        one, other = waits
        assert isinstance(one, SubagentRunError)
        assert isinstance(other, SubagentRunError)
        assert one is not other
        assert one.__cause__ is other.__cause__ is error

    stand.run(main)
    stand.check()


def test_a_cancelled_task_goes_on_when_its_child_has_come_to_rest(stand: Any) -> None:
    stand.script(stand.tidy())

    async def main() -> None:
        async with stand.open() as bridge:
            published = asyncio.Event()

            def started(_: RunStarted) -> None:
                published.set()

            bridge.on(RunStarted, started)
            task = asyncio.create_task(bridge.run("scripted", stand.request(bridge)))
            await published.wait()
            assert stand.provider.running == {"scripted-1"}
            task.cancel("enough")
            with pytest.raises(asyncio.CancelledError, match="enough"):
                await task
            assert stand.provider.running == set()

    stand.run(main)
    stand.check()


def test_a_timeout_of_asyncio_is_a_timeout(stand: Any) -> None:
    stand.script(stand.tidy())

    async def main() -> None:
        async with stand.open() as bridge:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await bridge.run("scripted", stand.request(bridge))
            assert stand.provider.running == set()

    stand.run(main)


def test_giving_up_a_wait_leaves_the_child_alone(stand: Any) -> None:
    stand.script(hang())

    async def main() -> None:
        async with (
            stand.open() as bridge,
            await bridge.start("scripted", stand.request(bridge)) as run,
        ):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await run.result()
            assert stand.provider.running == {"scripted-1"}

    stand.run(main)
    stand.check()


@pytest.mark.field_case("B231")
def test_any_task_may_close_what_another_one_opened(stand: Any) -> None:
    """A run and its bridge may be opened in one task and closed in another."""
    stand.script(stand.tidy())

    async def main() -> None:
        manager = stand.open()
        bridge = await asyncio.create_task(manager.__aenter__())
        run: BridgeRun[Any] = await asyncio.create_task(
            bridge.start("scripted", stand.request(bridge))
        )
        await asyncio.create_task(run.aclose())
        stand.check()
        await asyncio.create_task(manager.__aexit__(None, None, None))

    stand.run(main)
    assert stand.torn_down


@pytest.mark.field_case("B234")
def test_a_backend_sees_the_context_of_whoever_asked(stand: Any) -> None:
    """Context variables of the asking task reach its own child, and no other."""
    seen: dict[str, str] = {}

    async def look(
        request: ResolvedRequest, publish: Publish, child_id: AgentId
    ) -> SubagentResult[Any]:
        publish(child_id)
        await trio.lowlevel.checkpoint()
        seen[request.text] = who.get()
        return SubagentResult(stop_reason="completed")

    stand.script(look)

    async def ask(bridge: Any, name: str) -> None:
        who.set(name)
        await bridge.run("scripted", stand.request(bridge, prompt=name))
        assert who.get() == name

    async def main() -> None:
        who.set("nobody")
        async with stand.open() as bridge:
            await asyncio.gather(*(ask(bridge, name) for name in ("ann", "bob", "cleo")))
        assert who.get() == "nobody"

    stand.run(main)
    assert seen == {"ann": "ann", "bob": "bob", "cleo": "cleo"}


def test_many_runs_go_on_at_once(stand: Any) -> None:
    arrived: list[str] = []
    everybody = trio.Event()

    async def meet(
        request: ResolvedRequest, publish: Publish, child_id: AgentId
    ) -> SubagentResult[Any]:
        publish(child_id)
        arrived.append(request.text)
        if len(arrived) == 100:
            everybody.set()
        await everybody.wait()
        return SubagentResult(stop_reason="completed", detail=request.text)

    stand.script(meet)

    async def main() -> list[str | None]:
        async with stand.open() as bridge:
            requests = (stand.request(bridge, prompt=f"{number}") for number in range(100))
            runs = (bridge.run("scripted", request) for request in requests)
            return [result.detail for result in await asyncio.gather(*runs)]

    assert stand.run(main) == [f"{number}" for number in range(100)]
    stand.check()


def test_listeners_are_called_in_asyncios_loop_in_order(stand: Any) -> None:
    words = [TextProgress(text=word) for word in ("one", "two", "three")]
    stand.script(reply(progress=words))
    heard: list[object] = []

    def listen(event: object) -> None:
        assert asyncio.get_running_loop().is_running()
        assert threading.current_thread() is threading.main_thread()
        heard.append(event.text if isinstance(event, TextProgress) else type(event))

    async def main() -> None:
        async with stand.open() as bridge:
            for kind in (RunStarted, RunEnded):
                bridge.on(kind, listen)
            undo = bridge.on(TextProgress, listen)
            await bridge.run("scripted", stand.request(bridge))
            assert heard == [RunStarted, "one", "two", "three", RunEnded]
            undo.close()
            await bridge.run("scripted", stand.request(bridge))
            assert heard[5:] == [RunStarted, RunEnded]

    stand.run(main)


def talk(go_on: trio.Event) -> Callable[..., Any]:
    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        report = publish(child_id)
        await go_on.wait()
        report.progress(TextProgress(text="hello"))
        return SubagentResult(stop_reason="completed")

    return act


def test_progress_of_a_run_that_nobody_listens_to_stays_in_trio(stand: Any) -> None:
    go_on = trio.Event()
    stand.script(talk(go_on))

    async def main() -> None:
        async with (
            stand.open() as bridge,
            await bridge.start("scripted", stand.request(bridge)) as run,
        ):
            stand.call_trio(go_on.set)
            assert (await run.result()).completed

    stand.run(main)
    assert [event.text for event in stand.parent.heard(TextProgress)] == ["hello"]


def test_progress_of_one_run_is_heard_and_a_listener_that_raises_disturbs_nobody(
    stand: Any, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Progress] = []

    def broken(_: Progress) -> None:
        raise LookupError("broken listener")

    async def main() -> None:
        async with (
            stand.open() as bridge,
            await bridge.start("gated", stand.request(bridge)) as run,
        ):
            run.on_progress(broken)
            run.on_progress(heard.append)
            run.on_progress(print).close()
            with pytest.raises(TypeError, match="a listener of progress is a plain function"):
                run.on_progress(together)
            stand.call_trio(go_on.set)
            assert (await run.result()).completed

    go_on = trio.Event()
    stand.script(talk(go_on))
    stand.provider.name = "gated"
    stand.run(main)
    assert [(type(event), event.child_id) for event in heard] == [(TextProgress, "gated-1")]
    assert "broken listener" in caplog.text


def test_how_a_run_ended_stands_whoever_else_tells_of_it() -> None:
    ended: list[RunRecord] = []
    request: SubagentStartRequest[str] = SubagentStartRequest(
        prompt="go", parent=ScriptedParent(id="root")
    )
    record = RunRecord("scripted", request, on_end=ended.append)
    first = LookupError("could not start")
    record.end(first)
    record.end(LookupError("the bridge is gone"))
    assert ended == [record]
    with pytest.raises(LookupError) as caught:
        record.check()
    assert caught.value is first
