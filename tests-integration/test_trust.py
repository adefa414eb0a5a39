"""Who may do what in a tree of agents, and what their words are to each other."""

from home import Home, result_text, tool

from dsh.agent import TOOL_GUARD, ToolFilter
from dsh.agent.testing import call, say
from dsh.subagent import SubagentCapabilities
from dsh.subagent.testing import ScriptedProvider, reply


async def test_a_guard_of_the_host_binds_every_child(home: Home) -> None:
    home.host.tools.register(tool("look", "seen"))
    home.host.hooks.guard(TOOL_GUARD, lambda execution: "not here")
    model = home.script(call("look"), say("done"))
    await home.run()
    assert "not here" in result_text(model.requests[1])


async def test_what_a_restricted_parents_model_may_not_start_its_code_may(home: Home) -> None:
    home.host.tools.register(tool("look", "seen"))
    home.parent.tools.restrict(ToolFilter(deny=("look",)))
    anywhere = ScriptedProvider(reply("out"), name="outside", capabilities=SubagentCapabilities())
    with home.subagents.register(anywhere):
        assert (await home.run("outside")).completed


async def test_neither_a_prompt_nor_an_answer_is_a_template(home: Home) -> None:
    model = home.script(say("{{cwd}} {{nobody}}"))
    result = await home.run(prompt="{{cwd}} {{nobody}}")
    assert model.requests[0].messages[0].text == result.text == "{{cwd}} {{nobody}}"
