"""Logs of a whole host: what models are sent follows from them, and they outlive it."""

from functools import partial
from pathlib import Path

import pytest

from dsh.agent import (
    Agent,
    AgentCreated,
    AgentId,
    AgentOptions,
    AgentSpec,
    AgentStatusChanged,
    ChatRequest,
    HarnessError,
    Session,
    SessionId,
    check_log,
    check_request,
    decode_log,
)
from dsh.agent.testing import ScriptedModel, Step, call, completed_turn, say
from dsh.agent_loop import Host, open_host
from dsh.session_jsonl import open_sessions
from dsh.subagent import RunEnded, SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool

OPTIONS = AgentOptions(model="scripted")


def delegating(host: Host, *answers: Step) -> None:
    """Each request is compared with the log of its session when it is made."""
    logs: dict[SessionId, Session] = {}

    def remember(event: AgentCreated) -> None:
        logs[event.agent.session.header.id] = event.agent.session

    def checked(answer: Step, request: ChatRequest) -> Step:
        assert request.session_id is not None
        check_request(logs[request.session_id].events, request)
        return answer

    host.hooks.on(AgentCreated, remember)
    model = ScriptedModel(*(partial(checked, answer) for answer in answers))
    host.models.register(model, "scripted")
    subagents = SubagentService()
    subagents.register(SpawnProvider(host.agents))
    mount_subagent_tool(host, subagents, SubagentToolConfig(provider="spawn"))


@pytest.mark.guarantee("B-SES-40", "B-PER-06")
async def test_the_logs_of_a_delegation_are_on_disk_and_say_what_was_asked(tmp_path: Path) -> None:
    """Each request follows from its log, and a child's is durable once it has ended."""
    kept: list[tuple[Agent, bytes]] = []
    async with (
        open_sessions(tmp_path) as sessions,
        open_host(options=OPTIONS, sessions=sessions) as host,
    ):
        children: dict[AgentId, Agent] = {}
        host.hooks.on(AgentCreated, lambda event: children.setdefault(event.agent.id, event.agent))

        def ended(event: RunEnded) -> None:
            file = tmp_path / f"{event.child_id}.jsonl"
            kept.append((children[event.child_id], file.read_bytes()))

        host.hooks.on(RunEnded, ended)
        delegating(
            host,
            call("subagent", description="count", prompt="How many files?"),
            say("There are 3 files."),
            say("My helper counted 3 files."),
            say("You are welcome."),
        )
        async with host.agents.open(AgentSpec(cwd="/srv")) as parent:
            parent.send("Count the files.")
            await parent.wait_idle()
            parent.send("Thanks.")
            await parent.wait_idle()
        headers = await sessions.list()
        logs = [await sessions.load(header.id) for header in headers]
    ((child, data),) = kept
    assert decode_log(data).events == tuple(child.session.events)
    assert {header.parent_session for header in headers} == {None, parent.session.header.id}
    assert {log.header.id: tuple(log.events) for log in logs} == {
        agent.session.header.id: tuple(agent.session.events) for agent in (parent, child)
    }
    for log in logs:
        check_log(log.events)


async def test_yesterdays_session_goes_on_in_its_file(tmp_path: Path) -> None:
    for answer in ("first", "second"):
        async with (
            open_sessions(tmp_path) as sessions,
            open_host(options=OPTIONS, sessions=sessions) as host,
        ):
            delegating(host, say(answer))
            known = await sessions.list()
            session = await sessions.resume(SessionId("a")) if known else None
            spec = AgentSpec(id=AgentId("a"), session=session)
            async with host.agents.open(spec) as agent:
                agent.send(f"the {answer} question")
                await agent.wait_idle()
    events = decode_log((tmp_path / "a.jsonl").read_bytes()).events
    check_log(events)
    assert tuple(agent.session.events) == events
    assert agent.session.turns == 2


async def test_an_agent_that_is_not_created_leaves_no_trace_in_the_store(tmp_path: Path) -> None:
    async def refuse(agent: Agent) -> None:
        raise ZeroDivisionError

    async with (
        open_sessions(tmp_path) as sessions,
        open_host(options=OPTIONS, sessions=sessions) as host,
    ):
        delegating(host, say("hello"))
        spec = AgentSpec(id=AgentId("a"), setup=refuse)
        with pytest.raises(ZeroDivisionError):
            await host.agents.open(spec).__aenter__()
        async with host.agents.open(AgentSpec(id=AgentId("a"))) as agent:
            agent.send("hi")
            await agent.wait_idle()
        with pytest.raises(HarnessError, match="'a' exists") as caught:
            await host.agents.open(AgentSpec(id=AgentId("a"))).__aenter__()
        assert caught.value.code == "SESSION_ALREADY_EXISTS"
        assert host.agents.list() == ()


@pytest.mark.guarantee("B-SES-39")
async def test_an_agents_status_alternates_and_ends_for_good() -> None:
    """An agent is idle or running by turns, never the same twice, until it is disposed."""
    async with open_host(options=OPTIONS) as host:
        delegating(host, say("one"), say("two"))
        statuses: list[str] = []
        host.hooks.on(AgentStatusChanged, lambda event: statuses.append(event.status))
        async with host.agents.open(AgentSpec()) as agent:
            for prompt in ("first", "second"):
                agent.send(prompt)
                await agent.wait_idle()
        assert statuses == ["running", "idle", "running", "idle", "disposed"]
        assert agent.status == "disposed"


@pytest.mark.guarantee("B-SES-41")
async def test_an_illegal_history_creates_no_agent() -> None:
    """An agent whose inherited history breaks the rules of logs is not created."""
    events = (*completed_turn(1), *completed_turn(1))
    async with open_host(options=OPTIONS) as host:
        with pytest.raises(HarnessError, match="event 6: turn 1 starts, turn 2 is the next"):
            await host.agents.open(AgentSpec(seed=events)).__aenter__()
        assert host.agents.list() == ()
