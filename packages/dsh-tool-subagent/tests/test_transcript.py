"""The transcript in the README: what parent and child are really sent, for each way to end.

After a change of words, write it anew: ``DSH_REWRITE=1 scripts/test packages/dsh-tool-subagent``.
"""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

import pytest
import trio

from dsh.agent import (
    AgentCreated,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    ContentBlock,
    Message,
    ModelDelta,
    Session,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from dsh.agent.testing import ScriptedModel, call, call_raw, fail, hang, say, think
from dsh.agent_loop import Host, open_host
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import mount_subagent_tool

README: Final = Path(__file__).parents[1] / "README.md"
BEGIN: Final = "<!-- transcript: written by tests/test_transcript.py -->\n"
END: Final = "<!-- end of the transcript -->\n"

TASK: Final = call("subagent", description="count files", prompt="How many files are in docs?")
LOOK: Final = call("look")


def lines_of(block: ContentBlock) -> list[str]:
    """A block as a reader sees it, every line of it."""
    match block:
        case TextBlock() | ThinkingBlock():
            return block.text.splitlines()
        case ToolCallBlock():
            return [f"calls {block.name} {block.arguments}"]
        case ToolResultBlock():
            kind = "error" if block.is_error else "result"
            first, *rest = [line for part in block.content for line in lines_of(part)] or [""]
            return [f"{kind}: {first}", *rest]
        case _:
            return [type(block).__name__]


def told(who: str, message: Message) -> list[str]:
    arrow = "says" if message.role == "assistant" else "is sent"
    lines = [line for block in message.content for line in lines_of(block)]
    return [f"{who} {arrow}: {lines[0]}", *(f"    {line}" for line in lines[1:])]


def transcript(logs: list[Session], *, shows_system: ChatRequest | None = None) -> str:
    """Parent and children, in the order in which they began; the children's logs indented."""
    lines: list[str] = []
    if shows_system is not None:
        lines += [f"system text: {shows_system.system}"]
        lines += [f"tool: {t.name}: {t.description}" for t in shows_system.tools or ()]
    for position, log in enumerate(logs):
        who, indent = ("parent", "") if position == 0 else ("child", "  ")
        lines += [indent + line for message in log.messages for line in told(who, message)]
    ids = {log.header.id: f"child-{n}" for n, log in enumerate(logs) if n}
    text = "\n".join(lines)
    for real, name in ids.items():
        text = text.replace(real, name)
    return text


async def run(
    *script: ChatResponse | object,
    act: Callable[[Host], None] = lambda host: None,
    options: AgentOptions | None = None,
    system: bool = False,
    **config: object,
) -> str:
    """The transcript of one turn of a parent whose model, and whose child's, follow *script*."""
    async with open_host() as host:
        model = ScriptedModel(*script)  # type: ignore[arg-type]
        host.models.register(model, "m")
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        mount_subagent_tool(host, subagents, {"provider": "spawn", **config})
        logs: list[Session] = []
        host.hooks.on(AgentCreated, lambda event: logs.append(event.agent.session))
        act(host)
        spec = AgentSpec(options=options or AgentOptions(model="m"))
        async with host.agents.open(spec) as parent:
            parent.send("How big are the docs?")
            await parent.wait_idle()
        return transcript(logs, shows_system=model.requests[0] if system else None)


def cancels_children(host: Host) -> None:
    def heard(event: ModelDelta) -> None:
        agent = host.agents.get(event.agent_id)
        if agent is not None and agent.depth:
            agent.cancel("the user changed their mind")

    host.hooks.on(ModelDelta, heard)


BAD_ARGUMENTS: Final = '{"description": "count files", "agent": "counter"}'

CASES: Final[dict[str, Callable[[], object]]] = {
    "It completed": partial(run, TASK, say("There are 12."), say("12 files."), system=True),
    "Its model failed": partial(
        run, TASK, fail("HTTP 500: out of memory", partial="There are"), say("I cannot tell.")
    ),
    "It was cut off": partial(
        run, TASK, say("There are twel", finish_reason="max_tokens"), say("I cannot tell.")
    ),
    "It refused": partial(
        run, TASK, say("I may not count.", finish_reason="refusal"), say("I cannot tell.")
    ),
    "It ended without an answer": partial(run, TASK, think("12?"), say("I cannot tell.")),
    "It used up its steps": partial(
        run,
        TASK,
        LOOK,
        LOOK,
        say("I cannot tell."),
        options=AgentOptions(model="m", max_steps=2),
    ),
    "It ran out of time": partial(run, TASK, hang("There are"), say("I cannot tell."), timeout=60),
    "It was cancelled": partial(
        run, TASK, hang("There are"), say("I cannot tell."), act=cancels_children
    ),
    "The call was wrong": partial(run, call_raw("subagent", BAD_ARGUMENTS), say("I cannot tell.")),
    "The parent had started its last": partial(
        run, TASK, say("There are 12."), TASK, say("I cannot tell."), max_children=1
    ),
}


async def written() -> str:
    parts: list[str] = []
    for title, case in CASES.items():
        text = await case()  # type: ignore[misc]
        parts.append(f"**{title}**\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


async def test_the_transcript_in_the_readme_is_what_really_happens(
    autojump_clock: trio.testing.MockClock,
) -> None:
    before, found, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    shown, ended, after = rest.partition(END)
    assert found
    assert ended
    now = "\n" + await written() + "\n"
    if os.environ.get("DSH_REWRITE"):
        README.write_text(before + BEGIN + now + END + after, encoding="utf-8")
    elif shown != now:
        pytest.fail("the transcript is stale; the module says how to write it anew")
