"""The loop, cancelled at every scheduler step of a turn that uses all of it.

Four scenarios share a host with two concurrent tools, one in a thread, one that stands alone, one
whose clean-up raises, one that steers, filters that take their time and a log that is slow to keep.
"""

import logging
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Final, TypeVar, final

import pytest
import trio

from dsh.agent import (
    ASSEMBLY,
    CONTINUATION,
    MODEL_CALL,
    PRE_STEP,
    PROMPT_SUBMIT,
    STEP_RESULT,
    Agent,
    AgentDisposedError,
    AgentHandle,
    AgentOptions,
    AgentRegistry,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    HarnessError,
    Next,
    OnDelta,
    SessionEvent,
    SessionHeader,
    SteeringMessage,
    StepEnded,
    TextBlock,
    TextDelta,
    Tool,
    ToolExecution,
    ToolFinished,
    ToolResult,
    ToolResulted,
    TurnEnded,
    check_log,
)
from dsh.agent.testing import (
    Scenario,
    SweepReport,
    SweepStage,
    assert_no_leaks,
    call,
    faults,
    host_probe,
    reply,
    say,
    sweep,
)
from dsh.agent_loop import Host, _calls, _driver, _open_turn, open_host

V = TypeVar("V")

PACKAGES: Final = ["dsh.agent_loop"]


async def pass_time(seconds: float) -> None:
    """Let virtual seconds go by; the clock of a sweep jumps when everybody waits."""
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


# -- a model, a log and tools


ANSWERS: Final[dict[str, list[ChatResponse]]] = {
    "go": [
        reply(
            call("wait", call_id="slow", seconds=3),
            call("wait", call_id="quick", seconds=1),
            call("think", call_id="thread"),
            call("edit", call_id="alone"),
        ),
        reply(
            call("messy", call_id="messy"),
            call("steer", call_id="steer"),
            call("nobody", call_id="unknown"),
        ),
        say("steered"),
    ],
    "next": [call("edit", call_id="again"), say("done")],
}


@final
class TableModel:
    """Answers by how many answers the conversation has had since the user last spoke."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel``."""
        spoken = [(m.source, m.content[0]) for m in request.messages if m.role == "user"]
        prompt = next(
            block.text
            for source, block in reversed(spoken)
            if source == "user" and isinstance(block, TextBlock) and block.text in ANSWERS
        )
        answered = 0
        for message in reversed(request.messages):
            block = message.content[0]
            if isinstance(block, TextBlock) and block.text == prompt and message.role == "user":
                break
            answered += message.role == "assistant"
        on_delta(TextDelta(text="…"))
        await pass_time(1)
        return ANSWERS[prompt][answered]


@final
class SlowSink:
    """A log that takes a second to keep what it was given."""

    def append(self, event: SessionEvent) -> None:
        pass

    async def flush(self) -> None:
        await pass_time(1)

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()


@final
class SlowStore:
    def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> SlowSink:
        return SlowSink()


def ok(text: str) -> ToolResult:
    return ToolResult(content=(TextBlock(text=text),))


async def wait(execution: ToolExecution) -> ToolResult:
    await pass_time(3 if execution.call_id == "slow" else 1)
    return ok(f"{execution.call_id} waited")


async def think(execution: ToolExecution) -> ToolResult:
    await trio.to_thread.run_sync(threading.get_ident)
    return ok("thought")


async def edit(execution: ToolExecution) -> ToolResult:
    try:
        await pass_time(1)
    finally:
        with trio.CancelScope(shield=True):  # a slow clean-up, that nothing may tear
            await pass_time(2)
    return ok("edited")


async def messy(execution: ToolExecution) -> ToolResult:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pass_time, 5)
        try:
            await pass_time(1)
        finally:
            raise OSError("could not tidy up")


async def steer(execution: ToolExecution) -> ToolResult:
    assert execution.agent is not None
    execution.agent.steer("and be brief")
    await trio.lowlevel.checkpoint()
    return ok("steered")


TOOLS: Final = (
    Tool(
        name="wait",
        description="for the sweep",
        parameters={"type": "object"},
        execute=wait,
        concurrent=True,
    ),
    Tool(
        name="think",
        description="for the sweep",
        parameters={"type": "object"},
        execute=think,
        concurrent=True,
    ),
    Tool(name="edit", description="for the sweep", parameters={"type": "object"}, execute=edit),
    Tool(name="messy", description="for the sweep", parameters={"type": "object"}, execute=messy),
    Tool(name="steer", description="for the sweep", parameters={"type": "object"}, execute=steer),
)


# -- a host, and what must hold of it


@final
class Record:
    """What was seen of a host's agents, to be held against their logs."""

    def __init__(self) -> None:
        self.agents: list[Agent] = []
        self.finished: list[ToolFinished] = []

    def check(self) -> None:
        for agent in self.agents:
            events = list(agent.session.events)
            check_log(events)
            results = [
                (e.result.call_id, e.result.content, e.result.is_error)
                for e in events
                if isinstance(e, ToolResulted)
            ]
            for each in self.finished:
                if each.execution.agent is agent:
                    result = each.result
                    kept = (each.execution.call_id, result.content, result.is_error)
                    assert kept in results, f"{kept} was thrown away: {results}"


async def slow_filter(value: V, context: object, next: Next[V]) -> V:
    await trio.lowlevel.checkpoint()
    value = await next(value)
    await trio.lowlevel.cancel_shielded_checkpoint()  # a cancel made here finds who comes next
    return value


@asynccontextmanager
async def swept_host(record: Record) -> AsyncGenerator[Host]:
    options = AgentOptions(model="table", max_parallel_tool_calls=2)
    async with open_host(options=options, sessions=SlowStore()) as host:
        host.models.register(TableModel(), "table", max_concurrent=1)
        for tool in TOOLS:
            host.tools.register(tool)
        for point in (PROMPT_SUBMIT, PRE_STEP, MODEL_CALL, STEP_RESULT, CONTINUATION, ASSEMBLY):
            host.hooks.filter(point, slow_filter)  # pyright: ignore[reportArgumentType, reportUnknownMemberType] - one for all
        host.hooks.on(ToolFinished, record.finished.append)
        yield host


async def serves(agent: Agent) -> None:
    """The same agent answers its next prompt."""
    with trio.fail_after(100):
        agent.send("next")
        await agent.wait_idle()
    ends = [event.reason for event in agent.session.events if isinstance(event, TurnEnded)]
    assert ends[-1] == "completed", ends


def everything_was_done(agent: Agent) -> None:
    """An uncancelled turn runs all there is; else the sweep would pass over it."""
    events = list(agent.session.events)
    assert [e.reason for e in events if isinstance(e, TurnEnded)] == ["completed"] * 2
    results = [e for e in events if isinstance(e, ToolResulted)]
    answered = [(e.result.call_id, e.code) for e in results]
    assert answered == [
        ("slow", None),
        ("quick", None),
        ("thread", None),
        ("alone", None),
        ("messy", "TOOL_ERROR"),
        ("steer", None),
        ("unknown", "UNKNOWN_TOOL"),
    ]
    assert any(isinstance(e, SteeringMessage) for e in events)


def left_no_agent(host: Host) -> AbstractContextManager[None]:
    return assert_no_leaks(host_probe(host))


async def host_serves(host: Host, record: Record) -> None:
    """The same host has another agent answer."""
    async with host.agents.open(AgentSpec()) as agent:
        record.agents.append(agent)
        await serves(agent)


async def in_the_callers_task(stage: SweepStage) -> None:
    """An opened agent: its turns run in the task that waits for it."""
    record = Record()
    with stage.scope("host shutdown"):
        async with swept_host(record) as host:
            with left_no_agent(host), stage.scope("disposal"):
                async with host.agents.open(AgentSpec()) as agent:
                    record.agents.append(agent)
                    with (
                        assert_no_leaks(),
                        stage.scope("request"),
                        stage.route("agent.cancel", agent.cancel),
                    ):
                        agent.send("go")
                        agent.inject("it is late", source="clock")
                        await agent.wait_idle()
                    with stage.settled():
                        record.check()
                        if not stage.made:
                            everything_was_done(agent)
                        await serves(agent)
            with stage.settled():
                record.check()
                await host_serves(host, record)
    record.check()


async def in_its_own_task(stage: SweepStage) -> None:
    """A created agent: it serves by itself, whoever waits for it."""
    record = Record()
    with stage.scope("host shutdown"):
        async with swept_host(record) as host:
            with left_no_agent(host), stage.scope("creation"):
                handle = await host.agents.create(AgentSpec())
                async with handle as agent:
                    assert agent.status == "disposed" or host.agents.get(agent.id) is agent
                    record.agents.append(agent)
                    try:
                        agent.send("go")
                    except AgentDisposedError:
                        assert stage.made
                    with (
                        stage.scope("request"),
                        stage.route("agent.cancel", agent.cancel),
                        stage.route("disposal", handle.aclose),
                    ):
                        await agent.wait_idle()
                    with stage.settled():
                        await agent.wait_idle()
                        record.check()
                        if {cut.route for cut in stage.made} <= {"request", "agent.cancel"}:
                            await serves(agent)
            with stage.settled():
                record.check()
                await host_serves(host, record)
    record.check()


async def during_setup(stage: SweepStage) -> None:
    """A child is composed while its parent, its creation or the host is ended."""
    record = Record()

    async def setup(agent: Agent) -> None:
        record.agents.append(agent)
        await pass_time(1)
        agent.tools.register(
            Tool(
                name="own", description="for the sweep", parameters={"type": "object"}, execute=edit
            )
        )
        with trio.CancelScope(shield=True):
            await pass_time(1)

    with stage.scope("host shutdown"):
        async with swept_host(record) as host:
            parent = await host.agents.create(AgentSpec())
            spec = AgentSpec(parent=parent.agent, setup=setup)
            with left_no_agent(host):
                with stage.route("parent's disposal", parent.aclose), stage.scope("request"):
                    try:
                        async with await host.agents.create(spec) as agent:
                            agent.send("next")
                            await agent.wait_idle()
                    except HarnessError:
                        assert stage.made
                if any(cut.route == "parent's disposal" for cut in stage.made):
                    await parent.aclose()
            with stage.settled():
                record.check()
                await host_serves(host, record)
    record.check()


async def driven_by_strangers(stage: SweepStage) -> None:
    """An opened agent is closed while other tasks run its turns and wait for them."""
    record = Record()
    with stage.scope("host shutdown"):
        async with swept_host(record) as host:
            with left_no_agent(host):
                async with trio.open_nursery() as strangers:
                    with stage.scope("disposal"):
                        async with host.agents.open(AgentSpec()) as agent:
                            record.agents.append(agent)
                            with stage.route("agent.cancel", agent.cancel), stage.scope("request"):
                                agent.inject("it is late", source="clock")
                                await agent.wait_idle()
                                agent.send("go")
                                strangers.start_soon(agent.wait_idle)
                                strangers.start_soon(agent.wait_idle)
                                await pass_time(4.5)
            with stage.settled():
                await host_serves(host, record)
    record.check()


SCENARIOS: Final[dict[str, Scenario]] = {
    each.__name__: each
    for each in (in_the_callers_task, in_its_own_task, during_setup, driven_by_strangers)
}


@pytest.fixture(autouse=True, scope="module")
def silence() -> Generator[None]:
    """Thousands of runs log what goes wrong in them, as they should; nobody reads it."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def reports() -> dict[str, SweepReport]:
    return {
        name: sweep(scenario, pairs=40, packages=PACKAGES) for name, scenario in SCENARIOS.items()
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_cancel_at_any_step_leaves_a_sound_log_and_a_host_that_serves(
    name: str, reports: dict[str, SweepReport]
) -> None:
    print(f"\n{name}: {reports[name]}")
    reports[name].check()


def test_the_sweeps_reach_nine_of_ten_await_points(reports: dict[str, SweepReport]) -> None:
    first, *others = (report.awaits for report in reports.values())
    reached = first
    for each in others:
        reached |= each
    print(f"\ntogether: {reached}; missed: {', '.join(map(str, reached.missed))}")
    assert reached.share >= 0.9, reached.missed


def _ends_a_step(_turn: object, event: SessionEvent) -> bool:
    return isinstance(event, StepEnded)


@contextmanager
def without(owner: type[object], name: str) -> Generator[None]:
    """The method does nothing."""

    def nothing(self: object) -> None:
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, nothing)
        yield


PLANTED: Final[dict[str, tuple[Callable[[], AbstractContextManager[None]], Scenario]]] = {
    "an unshielded close": (faults.unshielded, in_its_own_task),
    "a checkpoint after nursery.start": (faults.checkpoint_after_start, in_its_own_task),
    "a leaked limiter token": (faults.leaked_tokens, in_the_callers_task),
    "a step left open": (
        lambda: faults.skipped(_open_turn.OpenTurn, "log", when=_ends_a_step),
        in_the_callers_task,
    ),
    "an agent not closed": (lambda: faults.skipped(AgentHandle, "aclose"), in_its_own_task),
    "a finished result thrown away": (
        lambda: faults.skipped(vars(_calls)["_Ledger"], "note_result"),
        in_the_callers_task,
    ),
    "a cancelled creation reported as made": (
        lambda: faults.swallowed(AgentRegistry, "create"),
        in_its_own_task,
    ),
    "a cancellation retried": (lambda: faults.retried(_driver.Driver, "serve"), in_its_own_task),
    "an announcement too late": (lambda: faults.delayed(AgentRegistry, "publish"), in_its_own_task),
    "a raise in the nursery before publication": (
        lambda: faults.raising(AgentRegistry, "publish"),
        during_setup,
    ),
    "waiters not told of a cancel": (
        lambda: without(_driver.Driver, "note_forgotten"),
        in_its_own_task,
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_the_sweep_finds_a_fault_planted_in_the_loop(fault: str) -> None:
    plant, scenario = PLANTED[fault]
    with plant():
        report = sweep(scenario, max_failures=1)
    assert report.failures, f"{fault} was not found: {report}"
    print(f"\n{fault}: run {report.runs}, {report.failures[0]}")


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_seed_both_sides_of_a_step_and_pairs_of_cancels(name: str) -> None:
    report = sweep(
        SCENARIOS[name], seeds=(0, 1, 2), sides=("before", "after"), pairs=2_000, packages=PACKAGES
    )
    print(f"\n{name}: {report}")
    report.check()
