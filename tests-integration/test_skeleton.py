"""One delegation, end to end, through the real packages."""

import subprocess
import sys
from pathlib import Path

import trio

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    AssistantMessage,
    TextBlock,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    UserMessage,
)
from dsh.agent.testing import ScriptedModel, call, say
from dsh.agent_loop import open_host
from dsh.subagent import RunEnded, RunStarted, SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool


async def test_a_parent_delegates_and_reads_its_childs_answer() -> None:
    model = ScriptedModel(
        call("subagent", description="count", prompt="How many files?"),
        say("There are 3 files."),
        say("My helper counted 3 files."),
    )
    async with open_host() as host:
        host.models.register(model, "scripted")
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        mount_subagent_tool(host, subagents, SubagentToolConfig(provider="spawn"))
        children: list[Agent] = []
        order: list[str] = []

        def started(event: RunStarted) -> None:
            child = host.agents.get(event.child_id)
            assert child is not None
            children.append(child)
            order.append("run started")

        host.hooks.on(RunStarted, started)
        host.hooks.on(RunEnded, lambda event: order.append(f"run ended {event.stop_reason}"))
        async with host.agents.open(AgentSpec(options=AgentOptions(model="scripted"))) as parent:
            parent.send("Count the files.")
            await parent.wait_idle()
            order.append("parent's turn is over")
            assert not parent.nursery.child_tasks
        (child,) = children
        assert host.agents.list() == ()

    calls = [e.call.name for e in parent.session.events if isinstance(e, ToolCalled)]
    results = [e.result for e in parent.session.events if isinstance(e, ToolResulted)]
    assert calls == ["subagent"]
    assert [result.content for result in results] == [(TextBlock(text="There are 3 files."),)]
    assert [e.reason for e in parent.session.events if isinstance(e, TurnEnded)] == ["completed"]
    assert order == ["run started", "run ended completed", "parent's turn is over"]
    own = [e.message.content for e in child.session.events if isinstance(e, UserMessage)]
    assert own == [(TextBlock(text="How many files?"),)]
    assert [e.message.content for e in child.session.events if isinstance(e, AssistantMessage)] == [
        (TextBlock(text="There are 3 files."),)
    ]
    assert child.session.header.parent_session == parent.session.header.id


def test_no_task_is_left_once_the_run_is_over() -> None:
    async def main() -> tuple[int, int]:
        before = trio.lowlevel.current_statistics().tasks_living
        await test_a_parent_delegates_and_reads_its_childs_answer()
        return before, trio.lowlevel.current_statistics().tasks_living

    before, after = trio.run(main)
    assert after == before


def test_the_example_prints_the_parents_log() -> None:
    example = Path(__file__).parents[1] / "examples" / "skeleton.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert "My helper counted 3 files." in done.stdout
    assert done.stderr == ""
