"""Prompt sections, variables and their placeholders."""

from typing import Any

import pytest

from dsh.agent import (
    IDENTITY,
    PERSONA,
    DuplicateSectionError,
    DuplicateVariableError,
    InvalidSectionError,
    OwnerFinalError,
    PlaceholderError,
    PromptChanged,
    Section,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolResult,
    Variable,
    assemble,
)


async def system(agent: Any) -> str | None:
    return (await assemble(agent)).system


async def nothing(_: ToolExecution) -> ToolResult:
    return ToolResult(content=())


def a_tool(name: str, **options: Any) -> Tool:
    return Tool(
        name=name,
        description=name,
        parameters={"type": "object"},
        execute=nothing,
        **options,
    )


@pytest.mark.guarantee("B-SYS-01")
async def test_sections_come_in_order_with_a_blank_line_between(host: Any) -> None:
    """Sections are joined by blank lines in their order; empty ones leave no trace."""
    host.prompt.register(Section(name="late", text="late", order=10))
    host.prompt.register(Section(name="first of equals", text="one", order=1.5))
    host.prompt.register(Section(name="empty", text="", order=2))
    host.prompt.register(Section(name="early", text="early", order=-100))
    host.prompt.register(Section(name="second of equals", text="two", order=1.5))
    assert await system(host.agent()) == "early\n\none\n\ntwo\n\nlate"


@pytest.mark.guarantee("B-SYS-02")
async def test_names_are_unique_in_a_layer_and_orders_are_numbers(host: Any) -> None:
    """A layer has a section once, at a finite order; an agent's own stands for its host's."""
    host.prompt.register(Section(name="rules", text="host's rules"))
    with pytest.raises(DuplicateSectionError, match="register with that agent instead"):
        host.prompt.register(Section(name="rules", text="again"))
    for order in (float("nan"), float("inf")):
        with pytest.raises(InvalidSectionError, match="finite order"):
            Section(name="x", text="", order=order)
    agent = host.agent()
    with agent.prompt.register(Section(name="rules", text="own rules")):
        assert await system(agent) == "own rules"
        assert await system(host.agent("b")) == "host's rules"
    assert await system(agent) == "host's rules"


@pytest.mark.parametrize("name", ["", "Upper", "two words", "1st"])
def test_parts_without_a_proper_name_are_refused(host: Any, name: str) -> None:
    with pytest.raises(InvalidSectionError):
        Variable(name=name, value="")
    if not name:
        with pytest.raises(InvalidSectionError):
            Section(name=name, text="")


def test_only_sections_and_variables_make_a_prompt(host: Any) -> None:
    with pytest.raises(TypeError, match="a Section or a Variable, not a str"):
        host.prompt.register("text")


@pytest.mark.guarantee("B-SYS-03", "B-SYS-14")
async def test_a_persona_is_an_agents_own_section_and_may_be_nothing(host: Any) -> None:
    """A child's persona is its own section at order 0, and an empty one is no persona at all."""
    host.prompt.register(Section(name=PERSONA, text="You are the host's."))
    reviewer, nobody, plain = (host.agent(name) for name in "abc")
    reviewer.prompt.register(Section(name=PERSONA, text="You review."))
    nobody.prompt.register(Section(name=PERSONA, text=""))
    assert await system(reviewer) == "You review."
    assert await system(nobody) is None
    assert await system(plain) == "You are the host's."
    assert reviewer.prompt.sections()[PERSONA].order == 0


@pytest.mark.guarantee("B-SYS-04", "B-SYS-05")
async def test_a_tools_guidance_is_there_when_the_tool_is_and_nowhere_else(host: Any) -> None:
    """What a tool says about its use stands in ``tool:NAME`` wherever it is offered."""
    host.prompt.register(Section(name=PERSONA, text="You help."))
    agent = host.agent()
    registration = host.tools.register(a_tool("bash", guidance="Use bash with care."))
    host.tools.register(a_tool("read", guidance="Read first.", guidance_order=150))
    assert await system(agent) == "You help.\n\nUse bash with care.\n\nRead first."
    with agent.tools.restrict(ToolFilter(deny=("bash",))):
        assert await system(agent) == "You help.\n\nRead first."
    registration.close()
    assert await system(agent) == "You help.\n\nRead first."
    with agent.prompt.register(Section(name="tool:read", text="Own words.", order=150)):
        assert await system(agent) == "You help.\n\nOwn words."


@pytest.mark.guarantee("B-SYS-06")
async def test_a_host_says_what_it_is_or_there_is_no_system_text(host: Any) -> None:
    """The library writes no prompt of its own: the identity is a section that a host fills."""
    assert await system(host.agent()) is None
    host.prompt.register(Section(name=PERSONA, text="You help."))
    host.prompt.register(Section(name=IDENTITY, text="You run in a test.", order=-100))
    assert await system(host.agent()) == "You run in a test.\n\nYou help."


@pytest.mark.guarantee("B-SYS-07")
async def test_placeholders_are_filled_in_strictly_and_once(host: Any) -> None:
    """A placeholder needs a known name with a value, and a value is never looked at again."""
    host.prompt.register(
        Section(name="s", text="{{model}} in {{cwd}}: {{a_1}} {{ {open} {{b", order=1)
    )
    agent = host.agent()
    host.prompt.register(Variable(name="a_1", value="{{model}}"))
    assert await system(agent) == "scripted in /project: {{model}} {{ {open} {{b"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{nope}}", "'nope', which has no value"),
        ("{{ spaced }}", "placeholder '{{ spaced }}'"),
        ("{{Upper}}", "looks like {{name}}"),
        ("{{}}", "looks like {{name}}"),
        ("{{__class__}}", "looks like {{name}}"),
        ("{{keys}}", "'keys', which has no value"),
        ("{{unset}}", "'unset', which has no value"),
    ],
)
async def test_a_placeholder_that_nothing_stands_behind_fails_the_assembly(
    host: Any, text: str, problem: str
) -> None:
    host.prompt.register(Section(name="rules", text=text))
    host.prompt.register(Variable(name="unset", value=lambda _: None))
    with pytest.raises(PlaceholderError, match="'rules'") as refused:
        await assemble(host.agent())
    assert problem in str(refused.value)


async def test_a_variable_called_like_an_attribute_works_once_it_is_one(host: Any) -> None:
    host.prompt.register(Section(name="s", text="{{keys}} {{items}}"))
    host.prompt.register(Variable(name="keys", value="k"))
    agent = host.agent()
    agent.prompt.register(Variable(name="items", value=lambda agent: agent.id))
    assert await system(agent) == "k a"


async def test_an_agents_variable_shadows_its_hosts_unless_that_is_final(host: Any) -> None:
    agent = host.agent()
    host.prompt.register(Section(name="s", text="{{tone}}"))
    host.prompt.register(Variable(name="tone", value="dry"))
    host.prompt.register(Variable(name="law", value="strict", owner_final=True))
    agent.prompt.register(Variable(name="tone", value="warm"))
    assert await system(agent) == "warm"
    with pytest.raises(OwnerFinalError):
        agent.prompt.register(Variable(name="law", value="lax"))
    with pytest.raises(DuplicateVariableError):
        host.prompt.register(Variable(name="tone", value="again"))


def test_an_owner_final_section_is_never_shadowed(host: Any) -> None:
    agent = host.agent()
    final = Section(name="law", text="obey", owner_final=True)
    own = agent.prompt.register(Section(name="law", text="or not"))
    with pytest.raises(OwnerFinalError, match="an agent already has one"):
        host.prompt.register(final)
    own.close()
    host.prompt.register(final)
    with pytest.raises(OwnerFinalError, match="the host's is owner-final"):
        agent.prompt.register(Section(name="law", text="or not"))


@pytest.mark.parametrize(
    "part", [Section(name="x", text=""), Variable(name="x", value="")], ids=["section", "variable"]
)
@pytest.mark.guarantee("B-SYS-12")
def test_an_objection_to_a_change_of_the_prompt_undoes_it(host: Any, part: Any) -> None:
    """A change is announced to its layer and the host, and one who raises undoes it."""
    heard: list[PromptChanged] = []
    host.hooks.on(PromptChanged, heard.append)
    agent = host.agent()
    agent.prompt.register(part).close()
    assert [(event.name, event.registered) for event in heard] == [("x", True), ("x", False)]

    def objects(_: PromptChanged) -> None:
        raise ValueError("not this one")

    with host.hooks.on(PromptChanged, objects), pytest.raises(ValueError, match="not this one"):
        agent.prompt.register(part)
    assert agent.prompt.sections() == agent.prompt.variables() == {}


@pytest.mark.guarantee("B-SYS-13")
async def test_a_text_may_be_a_function_of_the_agent(host: Any) -> None:
    """A section's text may be made for the agent at hand, anew for each request, as it is."""
    host.prompt.register(Section(name="s", text=lambda agent: f"{agent.id} {{{{raw}}}}"))
    assert await system(host.agent("a")) == "a {{raw}}"
    assert await system(host.agent("b")) == "b {{raw}}"
