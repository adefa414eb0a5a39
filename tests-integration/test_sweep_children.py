"""Children in this process, cancelled at every scheduler step of their lives."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
import trio
from home import text_of

from dsh.agent import (
    POST_EXECUTE,
    Accept,
    Agent,
    AgentDisposed,
    AgentId,
    AgentOptions,
    AgentSpec,
    Block,
    ChatRequest,
    ChatResponse,
    DelegatedUsage,
    Next,
    OnDelta,
    TextBlock,
    TextDelta,
    Tool,
    ToolExecution,
    ToolOutcome,
    ToolResult,
    check_log,
)
from dsh.agent.testing import (
    Scenario,
    SweepReport,
    SweepStage,
    assert_no_leaks,
    call,
    host_probe,
    reply,
    say,
    sweep,
)
from dsh.agent_loop import Host, open_host
from dsh.subagent import (
    RunEnded,
    RunStarted,
    SubagentError,
    SubagentResult,
    SubagentService,
    SubagentStartRequest,
)
from dsh.subagent_fork import ForkProvider
from dsh.subagent_spawn import SpawnProvider

PACKAGES: Final = ["dsh.subagent_inprocess", "dsh.subagent_spawn", "dsh.subagent_fork"]
SCHEMA: Final = {
    "type": "object",
    "properties": {"v": {"type": "integer"}},
    "required": ["v"],
}


async def pass_time(seconds: float) -> None:
    with trio.move_on_after(seconds):
        await trio.sleep_forever()


def answer(v: object, call_id: str = "a") -> ChatResponse:
    return call("structured_output", call_id=call_id, v=v)


SCRIPTS: Final[dict[str, list[ChatResponse]]] = {
    "plain": [reply(say("looking"), call("look", call_id="1")), say("done")],
    "hello": [say("hello")],
    "valid": [answer(1)],
    "mended": [answer("one"), answer(1)],
    "nudged": [say("it is one"), answer(1)],
    "blocked": [answer(666, "b"), answer(1)],
    "more": [reply(call("look", call_id="1"), answer(1), call("look", call_id="2"))],
    "deep 3": [call("delegate", to="deep 2"), say("3")],
    "deep 2": [call("delegate", to="deep 1"), say("2")],
    "deep 1": [call("look", call_id="1"), say("1")],
}
"""What a child answers to each prompt, request by request."""


class TableModel:
    """Answers by the prompt that opened the child's conversation, and how often it has answered."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        prompt, answered = "", 0
        for message in request.messages:
            last = text_of(message).rpartition("\n")[2]
            if message.role == "user" and last in SCRIPTS:
                prompt, answered = last, 0
            answered += message.role == "assistant"
        on_delta(TextDelta(text="…"))
        await pass_time(1)
        return SCRIPTS[prompt][answered]


async def look(execution: ToolExecution) -> ToolResult:
    try:
        await pass_time(1)
    finally:
        with trio.CancelScope(shield=True):  # a slow clean-up, that nothing may tear
            await pass_time(2)
    return ToolResult(content=(TextBlock(text="seen"),))


class Home:
    """A host with both backends, a delegating tool, and every event of every run."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.subagents = SubagentService()
        self.subagents.register(SpawnProvider(host.agents))
        self.subagents.register(ForkProvider(host.agents))
        self.started, self.ended = list[RunStarted](), list[RunEnded]()
        self.usage = list[DelegatedUsage]()
        host.models.register(TableModel(), "model")
        for name, body in (("look", look), ("delegate", self.delegate)):
            host.tools.register(
                Tool(name=name, description=name, parameters={"type": "object"}, execute=body)
            )
        host.hooks.on(RunStarted, self.started.append)
        host.hooks.on(RunEnded, self.ended.append)
        host.hooks.on(DelegatedUsage, self.usage.append)
        host.hooks.on(AgentDisposed, lambda event: check_log(event.agent.session.events))
        host.hooks.filter(POST_EXECUTE, self.review)

    async def review(
        self, verdict: Accept | Block, outcome: ToolOutcome, rest: Next[Accept | Block]
    ) -> Accept | Block:
        await trio.lowlevel.checkpoint()
        if outcome.execution.call_id == "b":
            return Block(feedback="not that")
        return await rest(verdict)

    async def delegate(self, execution: ToolExecution) -> ToolResult:
        assert execution.agent is not None
        arguments: Any = execution.arguments
        result = await self.run(execution.agent, "spawn", arguments["to"])
        return ToolResult(content=(TextBlock(text=result.text),))

    async def run(
        self, parent: Agent, provider: str, prompt: str, **fields: Any
    ) -> SubagentResult[Any]:
        request: SubagentStartRequest[Any] = SubagentStartRequest(
            prompt=prompt, parent=parent, **fields
        )
        return await self.subagents.run(provider, request)

    def cancel_turn(self, id: AgentId) -> None:
        """Cancel the turn of the agent of that id, if it still lives."""
        agent = self.host.agents.get(id)
        if agent is not None:
            agent.cancel("cut")

    def check(self) -> None:
        """Each start had one end, later; nothing but the parent is alive."""
        assert [each.child_id for each in self.started] == sorted(
            (each.child_id for each in self.ended), key=[e.child_id for e in self.started].index
        )
        assert len(self.host.agents.list()) == 1
        assert {each.child_id for each in self.usage} <= {each.child_id for each in self.ended}


Part = Callable[[Home, Agent, SweepStage], Awaitable[None]]


def scenario(part: Part) -> Scenario:
    """*part* between a parent's first turn and a check that all of it is over and works again."""

    async def whole(stage: SweepStage) -> None:
        with stage.scope("shutdown"):
            async with open_host(options=AgentOptions(model="model", max_steps=4)) as host:
                home = Home(host)
                async with host.agents.open(AgentSpec()) as parent:
                    with stage.settled():
                        parent.send("hello")
                        await parent.wait_idle()
                    with assert_no_leaks(host_probe(host)), stage.scope("caller"):
                        await part(home, parent, stage)
                    with stage.settled():
                        home.check()
                        result = await home.run(parent, "spawn", "plain")
                        assert (result.stop_reason, result.text) == ("completed", "done")

    return whole


def one(provider: str, prompt: str, *, text: str = "", **fields: Any) -> Part:
    """One child, cancelled by its request's scope, its caller, its own turn, its parent's end."""

    async def part(home: Home, parent: Agent, stage: SweepStage) -> None:
        scope = trio.CancelScope()
        request: SubagentStartRequest[Any] = SubagentStartRequest(
            prompt=prompt, parent=parent, cancel_scope=scope, **fields
        )
        try:
            with stage.route("request", lambda: scope.cancel("cut")):
                async with await home.subagents.start(provider, request) as run:
                    with stage.route("turn", lambda: home.cancel_turn(run.id)):
                        result = await run.result()
        except SubagentError:
            if not stage.made:
                raise
            return  # a start that was cut
        whole = result.completed and result.text == text
        if "output_schema" in fields:
            whole = result.completed and result.value == {"v": 1}
        assert whole or (stage.made and result.stop_reason == "aborted"), result

    return part


async def siblings(home: Home, parent: Agent, stage: SweepStage) -> None:
    """Eight children at once."""
    results = list[str]()

    async def one_of_them() -> None:
        results.append((await home.run(parent, "spawn", "plain")).text)

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(one_of_them)
    assert results == ["done"] * 8


SCENARIOS: Final[dict[str, Part]] = {
    "spawn": one("spawn", "plain", text="done"),
    "fork": one("fork", "plain", text="done"),
    "structured": one("spawn", "valid", output_schema=SCHEMA),
    "invalid then valid": one("spawn", "mended", output_schema=SCHEMA),
    "nudged": one("fork", "nudged", output_schema=SCHEMA),
    "blocked after execution": one("spawn", "blocked", output_schema=SCHEMA),
    "captured then more calls": one("spawn", "more", output_schema=SCHEMA),
    "nested three deep": one("spawn", "deep 3", text="3"),
    "eight siblings": siblings,
}
QUICK: Final = ("spawn", "fork", "nudged", "blocked after execution")


@pytest.mark.guarantee("B-DRV-14", "B-DRV-24")
@pytest.mark.field_case("B092", "B093", "B129")
@pytest.mark.parametrize("name", QUICK)
def test_cancelled_at_any_step_a_child_ends_whole_or_aborted_and_leaves_nothing(name: str) -> None:
    """Cancelled anywhere, a child is told once, ends, leaves nothing, and its parent goes on."""
    report = sweep(scenario(SCENARIOS[name]), seeds=(0,))
    print(report)
    report.check()


@pytest.mark.sweep
@pytest.mark.parametrize("name", SCENARIOS)
def test_long_sweep_of_children(name: str) -> None:
    report: SweepReport = sweep(
        scenario(SCENARIOS[name]),
        seeds=(0, 1),
        sides=("before", "after"),
        pairs=400,
        packages=PACKAGES,
    )
    print(report)
    report.check()
