"""The bridge itself: opening, closing, dying, and being called from the wrong place."""

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio

from dsh.agent import AgentId
from dsh.bridge_asyncio import (
    Bridge,
    BridgeClosedError,
    BridgeCrashedError,
    BridgeMisuseError,
    Mode,
    open_bridge,
)
from dsh.subagent import (
    Publish,
    ResolvedRequest,
    RunStarted,
    SubagentResult,
    SubagentService,
    SubagentStartRequest,
)
from dsh.subagent.testing import ScriptedProvider, fail, hang, reply


async def never(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
    """An act that never publishes."""
    await trio.sleep_forever()
    raise AssertionError("unreachable")


async def together(*works: Any) -> list[Any]:
    return await asyncio.gather(*works, return_exceptions=True)


def test_the_mode_says_where_trio_runs(stand: Any) -> None:
    async def main() -> None:
        async with stand.open():
            here = stand.thread is threading.current_thread()
            assert here == (stand.mode == "guest")

    stand.run(main)
    assert stand.torn_down


def test_a_thread_is_the_default() -> None:
    async def main() -> None:
        async with open_bridge(compose) as bridge:
            assert bridge.parent.nursery is not None

    threads: list[threading.Thread] = []

    @asynccontextmanager
    async def compose(_: SubagentService) -> AsyncGenerator[None]:
        threads.append(threading.current_thread())
        yield

    asyncio.run(main())
    assert threads != [threading.current_thread()]


def test_a_bridge_brings_a_parent_of_its_own(mode: Mode) -> None:
    @asynccontextmanager
    async def compose(subagents: SubagentService) -> AsyncGenerator[None]:
        subagents.register(ScriptedProvider(hang()))
        yield

    async def main() -> None:
        async with open_bridge(compose, mode=mode, cwd="/somewhere") as bridge:
            parent = bridge.parent
            assert (parent.id, parent.cwd, parent.depth) == ("bridge", "/somewhere", 0)
            request = SubagentStartRequest(prompt="go", parent=parent)
            run = await bridge.start("scripted", request)
        result = await run.result()
        assert (result.stop_reason, result.detail) == ("aborted", "the run was closed")

    asyncio.run(main())


def test_two_bridges_may_follow_each_other(stand: Any) -> None:
    async def main() -> None:
        for each in (stand.new(reply("one")), stand.new(reply("two"))):
            async with each.open() as bridge:
                assert (await bridge.run("scripted", each.request(bridge))).completed
            assert each.torn_down

    stand.run(main)


def test_bridges_may_stand_side_by_side_if_one_at_most_is_a_guest(stand: Any) -> None:
    async def main() -> None:
        one, other = stand.new(reply("one")), stand.new(reply("other"))
        other.mode = "thread"
        async with one.open() as first, other.open() as second:
            results = await together(
                first.run("scripted", one.request(first)),
                second.run("scripted", other.request(second)),
            )
        assert [result.text for result in results] == ["one", "other"]

    stand.run(main)


def test_a_second_guest_is_refused(stand: Any) -> None:
    async def main() -> None:
        async with stand.open() as bridge:
            if stand.mode == "guest":
                with pytest.raises(BridgeMisuseError, match="mode='thread'"):
                    async with stand.new().open():
                        pass
            assert (await bridge.run("scripted", stand.request(bridge))).completed

    stand.run(main)


def test_leaving_closes_what_was_left_open(stand: Any) -> None:
    stand.script(stand.tidy("half"))

    async def main() -> None:
        async with stand.open() as bridge:
            run = await bridge.start("scripted", stand.request(bridge))
            wait = asyncio.create_task(run.result())
        stand.check()
        for result in (await wait, await run.result()):
            assert (result.stop_reason, result.text) == ("aborted", "half")
        run.cancel()
        await run.aclose()

    stand.run(main)


def test_a_start_that_is_under_way_when_the_bridge_closes_is_told_so(stand: Any) -> None:
    stand.script(never)

    async def main() -> None:
        async with stand.open() as bridge:
            start = asyncio.create_task(bridge.start("scripted", stand.request(bridge)))
            late = asyncio.Event()
            asyncio.get_running_loop().call_soon(late.set)
            await late.wait()  # the task has begun
        for each in (start, bridge.start("scripted", stand.request(bridge))):
            with pytest.raises(BridgeClosedError):
                await each

    stand.run(main)
    stand.check()


def test_what_a_composition_raises_arrives_as_it_is(mode: Mode) -> None:
    @asynccontextmanager
    async def compose(_: SubagentService) -> AsyncGenerator[None]:
        async with trio.open_nursery():
            raise LookupError("no such model")
        yield

    async def main() -> None:
        with pytest.raises(LookupError, match="no such model"):
            async with open_bridge(compose, mode=mode):
                raise AssertionError("never entered")

    asyncio.run(main())


def test_what_a_teardown_raises_leaves_the_block(mode: Mode) -> None:
    @asynccontextmanager
    async def compose(_: SubagentService) -> AsyncGenerator[None]:
        yield
        raise LookupError("cannot flush")

    async def main() -> None:
        with pytest.raises(LookupError, match="cannot flush") as caught:
            async with open_bridge(compose, mode=mode):
                raise ValueError("of the block")
        assert isinstance(caught.value.__context__, ValueError)

    asyncio.run(main())


def test_a_composition_that_is_no_context_manager_is_refused(mode: Mode) -> None:
    async def compose(_: SubagentService) -> None: ...

    async def main() -> None:
        with pytest.raises(TypeError, match="returned a coroutine; it must return an async con"):
            async with open_bridge(compose, mode=mode):  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - the fault
                pass

    asyncio.run(main())


def test_a_composition_that_is_nothing_to_wait_for_is_refused_too(mode: Mode) -> None:
    def compose(_: SubagentService) -> None: ...

    async def main() -> None:
        with pytest.raises(TypeError, match="returned a NoneType; it must return an async con"):
            async with open_bridge(compose, mode=mode):  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - the fault
                pass

    asyncio.run(main())


def test_a_mode_there_is_none_of_is_refused() -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match="takes 'guest' or 'thread'"):
            async with open_bridge(nothing, mode="fiber"):  # type: ignore[arg-type] # pyright: ignore[reportArgumentType] - the fault
                pass

    asyncio.run(main())


@asynccontextmanager
async def nothing(_: SubagentService) -> AsyncGenerator[None]:
    yield


def test_an_opening_that_is_cancelled_is_undone(stand: Any) -> None:
    composing = asyncio.Event()
    undone: list[str] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        @asynccontextmanager
        async def compose(_: SubagentService) -> AsyncGenerator[None]:
            loop.call_soon_threadsafe(composing.set)
            try:
                await trio.sleep_forever()
            finally:
                undone.append("undone")
            yield

        async def enter() -> None:
            async with open_bridge(compose, mode=stand.mode):
                raise AssertionError("never entered")

        task = asyncio.create_task(enter())
        await composing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    stand.run(main)
    assert undone == ["undone"]


class Doomed:
    """A composition whose background task fails when it is told to."""

    def __init__(self) -> None:
        self.error = LookupError("lost the disk")
        self.doom = trio.Event()
        self.provider = ScriptedProvider(hang(), never)

    async def _background(self) -> None:
        await self.doom.wait()
        raise self.error

    async def serve(self, _: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        publish(AgentId("doom"))
        self.doom.set()
        await trio.sleep_forever()
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def __call__(self, subagents: SubagentService) -> AsyncGenerator[None]:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._background)
            subagents.register(self.provider)
            subagents.register(self.doomsday)
            yield

    @property
    def doomsday(self) -> Any:
        provider = ScriptedProvider(name="doom")
        provider.serve = self.serve  # type: ignore[method-assign]
        return provider


def test_everybody_who_waits_hears_of_the_end_of_trios_side(stand: Any) -> None:
    doomed = Doomed()

    async def main() -> None:
        with pytest.raises(LookupError) as caught:  # noqa: PT012 - the block raises when it is left
            async with open_bridge(doomed, mode=stand.mode) as bridge:
                run = await bridge.start("scripted", request(bridge))
                waits: list[asyncio.Task[Any]] = [
                    asyncio.create_task(run.result()),
                    asyncio.create_task(bridge.start("scripted", request(bridge))),
                    asyncio.create_task(bridge.run("doom", request(bridge))),
                ]
                for error in await together(*waits):
                    assert isinstance(error, BridgeCrashedError)
                    assert error.__cause__ is doomed.error
                with pytest.raises(BridgeCrashedError, match="died of LookupError"):
                    await bridge.run("scripted", request(bridge))
                await run.aclose()
        assert caught.value is doomed.error

    def request(bridge: Bridge) -> SubagentStartRequest[Any]:
        return SubagentStartRequest(prompt="go", parent=bridge.parent)

    stand.run(main)
    assert doomed.provider.running == set()


def test_a_start_that_arrives_while_trios_side_is_dying_is_told_what_of(mode: Mode) -> None:
    error, tearing = LookupError("lost the disk"), asyncio.Event()
    doom, torn = trio.Event(), trio.Event()
    tokens: list[trio.lowlevel.TrioToken] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fail_later() -> None:
            await doom.wait()
            raise error

        @asynccontextmanager
        async def compose(subagents: SubagentService) -> AsyncGenerator[None]:
            tokens.append(trio.lowlevel.current_trio_token())
            subagents.register(ScriptedProvider())
            async with trio.open_nursery() as nursery:
                nursery.start_soon(fail_later)
                try:
                    yield
                finally:
                    loop.call_soon_threadsafe(tearing.set)
                    with trio.CancelScope(shield=True):
                        await torn.wait()

        with pytest.raises(LookupError) as caught:  # noqa: PT012 - the block raises when it is left
            async with open_bridge(compose, mode=mode) as bridge:
                tokens[0].run_sync_soon(doom.set)
                await tearing.wait()
                asked = SubagentStartRequest(prompt="go", parent=bridge.parent)
                start = asyncio.create_task(bridge.start("scripted", asked))
                begun = asyncio.Event()
                loop.call_soon(begun.set)
                await begun.wait()
                tokens[0].run_sync_soon(torn.set)
                with pytest.raises(BridgeCrashedError, match="died of LookupError"):
                    await start
        assert caught.value is error

    asyncio.run(main())


def test_a_block_that_ends_with_the_crash_it_was_told_of_raises_that(stand: Any) -> None:
    doomed = Doomed()

    async def main() -> None:
        with pytest.raises(BridgeCrashedError) as caught:
            async with open_bridge(doomed, mode=stand.mode) as bridge:
                await bridge.run("doom", SubagentStartRequest(prompt="go", parent=bridge.parent))
        assert caught.value.__cause__ is doomed.error

    stand.run(main)


def test_an_interrupt_of_a_backend_reaches_the_program(stand: Any) -> None:
    stand.script(fail(KeyboardInterrupt()))

    async def main() -> None:
        async with stand.open() as bridge:
            await bridge.run("scripted", stand.request(bridge))

    with pytest.raises(KeyboardInterrupt):
        stand.run(main)
    stand.check()


@pytest.fixture
def _interruptible() -> Generator[None]:
    """Let Ctrl-C interrupt, though a job in the background of a shell is started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(_: RunStarted) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_ends_the_program_with_nothing_left(stand: Any) -> None:
    stand.script(stand.tidy())

    async def main() -> None:
        async with stand.open() as bridge:
            bridge.on(RunStarted, interrupt)
            await bridge.run("scripted", stand.request(bridge))

    with pytest.raises(KeyboardInterrupt):
        stand.run(main)
    assert stand.torn_down
    stand.check()


@pytest.mark.field_case("B230")
@pytest.mark.parametrize("where", ["trio task", "its own loop", "a worker thread"])
def test_a_call_that_could_only_wait_for_itself_is_refused_at_once(stand: Any, where: str) -> None:
    """Using the bridge from inside a child fails at once instead of waiting for itself."""
    bridges: list[Bridge] = []
    caught: list[BaseException] = []

    def nested() -> None:
        (bridge,) = bridges
        work = bridge.run("scripted", stand.request(bridge))
        try:
            asyncio.run(work)
        finally:
            work.close()

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        publish(child_id)
        (bridge,) = bridges
        try:
            if where == "trio task":
                await bridge.run("scripted", stand.request(bridge))
            elif where == "its own loop":
                nested()
            else:
                await trio.to_thread.run_sync(nested)
        except (BridgeMisuseError, RuntimeError) as exc:
            caught.append(exc)
        return SubagentResult(stop_reason="completed")

    stand.script(act)

    async def main() -> None:
        async with stand.open() as bridge:
            bridges.append(bridge)
            assert (await bridge.run("scripted", stand.request(bridge))).completed

    stand.run(main)
    (error,) = caught
    if where == "its own loop" and stand.mode == "guest":  # asyncio's own refusal
        assert "cannot be called from a running event loop" in str(error)
    else:
        assert isinstance(error, BridgeMisuseError)


def test_a_run_is_refused_to_a_trio_task_too(stand: Any) -> None:
    runs: list[Any] = []
    caught: list[BridgeMisuseError] = []

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        publish(child_id)
        for wait in (runs[0].result, runs[0].aclose):
            with pytest.raises(BridgeMisuseError, match="trio task") as error:
                await wait()
            caught.append(error.value)
        return SubagentResult(stop_reason="completed")

    stand.script(hang(), act)

    async def main() -> None:
        async with stand.open() as bridge:
            runs.append(await bridge.start("scripted", stand.request(bridge)))
            assert (await bridge.run("scripted", stand.request(bridge))).completed

    stand.run(main)
    assert len(caught) == 2


async def test_a_trio_program_is_told_that_it_needs_no_bridge() -> None:
    with pytest.raises(BridgeMisuseError, match=r"use dsh\.subagent itself"):
        async with open_bridge(nothing):
            pass
