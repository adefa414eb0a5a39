"""What models are really sent, as files; see ``golden/README.md``."""

import pytest
from golden import assert_golden, shown
from home import Home, tool

from dsh.agent import (
    ASSEMBLY,
    MODEL_CALL,
    Agent,
    Draft,
    ModelCallConfig,
    Next,
    Section,
    StepContext,
    TextBlock,
    Tool,
    ToolExecution,
    ToolResult,
)
from dsh.agent.testing import call, reply, say

SCHEMA = {
    "type": "object",
    "properties": {
        "z": {"type": "string", "description": "Comes first, as the caller has it."},
        "a": {"type": ["integer", "null"], "minimum": 0},
    },
    "required": ["z"],
    "additionalProperties": False,
}


@pytest.fixture
def acme(home: Home) -> Home:
    """A host with a persona, a tool with guidance, and a tool that delegates."""
    home.host.prompt.register(Section(name="deployment:persona", text="You work for ACME."))
    home.host.tools.register(tool("read"))

    async def delegate(execution: ToolExecution) -> ToolResult:
        result = await home.run("fork", parent=execution.agent, prompt="Find the bug.")
        return ToolResult(content=(TextBlock(text=result.text),))

    home.host.tools.register(
        Tool(
            name="delegate",
            description="Hands a task to a subagent.",
            parameters={"type": "object"},
            execute=delegate,
            guidance="Delegate what can be done apart.",
        )
    )
    return home


@pytest.mark.guarantee("B-SPN-01")
async def test_a_spawned_child_is_sent_nothing_of_its_parent(acme: Home) -> None:
    """A spawned child's request is a plain agent's: its prompt, and the host's text and tools."""
    model = acme.script(say("Hello."), call("read"), say("Found it."))
    await acme.ask("PARENT-MARK")
    await acme.run(prompt="Find the bug.")
    assert_golden("plain", model.requests[:1])
    assert_golden("spawned", model.requests[1:])
    assert "PARENT-MARK" not in str([shown(each) for each in model.requests[1:]])


@pytest.mark.guarantee("B-FRK-01", "B-FRK-07")
@pytest.mark.field_case("B085")
async def test_a_forked_child_begins_as_its_parent_and_misses_the_open_turn(acme: Home) -> None:
    """Header and messages of a fork are its parent's up to the last ended turn, then the task."""
    model = acme.script(
        say("Let us look."),
        reply(say("OPEN-TURN"), call("delegate")),
        say("Found it."),
        say("It was found."),
    )
    await acme.ask("Something is slow.")
    await acme.ask("Please delegate.")
    first, open_turn, forked, _ = model.requests
    assert_golden("forked", [open_turn, forked])
    head = ("model", "options", "tool_choice", "system", "tools")
    parent, child = shown(open_turn), shown(forked)
    assert [parent[key] for key in head] == [child[key] for key in head]
    shared = len(first.messages) + 1
    assert parent["messages"][:shared] == child["messages"][:shared]
    assert len(child["messages"]) == shared + 1
    assert "OPEN-TURN" not in str(child)


@pytest.mark.guarantee("B-SO-01", "B-SO-12", "B-SO-20")
async def test_a_structured_child_is_sent_the_schema_as_it_is(acme: Home) -> None:
    """Schema verbatim, key order included; instruction after all other text; then the nudge."""
    model = acme.script(say("It is fine."), call("structured_output", z="fine"), say("plain again"))
    assert (await acme.run(prompt="Judge.", output_schema=SCHEMA)).structured == {"z": "fine"}
    await acme.ask("Hello.")
    assert_golden("structured", model.requests[:2])
    [offer] = [each for each in shown(model.requests[0])["tools"] if "structured" in each["name"]]
    assert str(offer["parameters"]) == str(SCHEMA)
    assert "structured_output" not in str(shown(model.requests[2]))


@pytest.mark.guarantee("B-SO-09", "B-SO-11")
async def test_listeners_that_replace_everything_change_neither_kind(home: Home) -> None:
    """Whatever is replaced, a structured child has its tool and text, and nobody else has."""

    async def replace(_: Draft, __: Agent, rest: Next[Draft]) -> Draft:
        return Draft(parts=(), tools=())

    async def route(
        config: ModelCallConfig, _: StepContext, rest: Next[ModelCallConfig]
    ) -> ModelCallConfig:
        return ModelCallConfig(model="model", options={"routed": True})

    home.host.hooks.filter(ASSEMBLY, replace, prepend=True)
    home.host.hooks.filter(MODEL_CALL, route, prepend=True)

    model = home.script(call("structured_output", z="fine"), say("Hello."))
    await home.run(prompt="Judge.", output_schema=SCHEMA)
    await home.ask("Hello.")
    assert_golden("replaced", model.requests)
    assert model.requests[1].tools is None
