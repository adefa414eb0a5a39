"""Tools, and who has a say in their use: one is called, one is denied, one is not even offered."""

import tempfile

import trio

from dsh.agent import (
    TOOL_GUARD,
    AgentOptions,
    AgentSpec,
    ToolExecution,
    ToolFilter,
    ToolResulted,
    tool,
)
from dsh.agent.testing import ScriptedModel, call, say
from dsh.agent_loop import open_host
from dsh.tools_files import file_tools


@tool(concurrent=True, guidance="Count words with `count_words` rather than by yourself.")
async def count_words(text: str, *, longer_than: int = 0) -> dict[str, int]:
    """Count the words of a text."""
    return {"words": sum(len(word) > longer_than for word in text.split())}


def only_notes(execution: ToolExecution) -> str | None:
    """Deny whatever reads anything else; nothing overrides a guard."""
    reads_other = execution.name == "read_file" and "notes" not in execution.text
    return "only notes may be read" if reads_other else None


async def main() -> None:
    """Have a scripted model call four tools, and print what it was answered."""
    with tempfile.TemporaryDirectory() as directory:
        await trio.Path(directory, "notes.txt").write_text("buy milk\n")
        await show(directory)


async def show(directory: str) -> None:
    """Let an agent read files in *directory*."""
    model = ScriptedModel(
        call("count_words", text="how many words are these", longer_than=4),
        call("read_file", path="notes.txt"),
        call("read_file", path="secret.txt"),
        call("search_files", pattern="milk"),
        say("That is all I may do."),
    )
    async with open_host() as host:
        host.models.register(model, "scripted")
        for each in (count_words, *file_tools(directory)):
            host.tools.register(each)
        async with host.agents.open(AgentSpec(options=AgentOptions(model="scripted"))) as agent:
            agent.tools.restrict(ToolFilter(deny=("search_files",)))
            agent.hooks.guard(TOOL_GUARD, only_notes)
            agent.send("Show what you can do.")
            await agent.wait_idle()
            for event in agent.session.events:
                if isinstance(event, ToolResulted):
                    print(event.code, event.result.content)


if __name__ == "__main__":
    trio.run(main)
