"""One delegation with a real model behind any OpenAI-compatible server: `scripts/test -m llm`.

`DSH_LLM_BASE_URL` says where the server is, `DSH_LLM_MODEL` what it calls the model, and
`DSH_LLM_API_KEY` the key if it wants one; `DSH_LLM_STREAM=off` has answers come whole, from a
server that streams tool calls wrongly. Mechanics are judged, never wording: was the call valid,
did the child run, does its answer have the shape that was asked for. `docs/reliability.md` has
what was measured.
"""

import json
import os
from dataclasses import dataclass

import pytest
import trio
from pydantic import SecretStr

from dsh.agent import (
    Agent,
    AgentOptions,
    AgentSpec,
    TextBlock,
    ToolCalled,
    ToolChoice,
    ToolResultBlock,
    ToolResulted,
    check_log,
)
from dsh.agent_loop import open_host
from dsh.llm_openai import OpenAIConfig, OpenAIModel
from dsh.subagent import SubagentService
from dsh.subagent_spawn import SpawnProvider
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool
from dsh.tools_jsonschema import validate_structured_value

pytestmark = pytest.mark.llm

TRIALS = 20
AT_ONCE = 4
CHILD_STEPS = 4  # free to choose, a child may call something else first, and is told so
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "maxLength": 80},
        "confidence": {"type": "string", "enum": ["low", "medium", "high"]},
        "sources": {"type": "array", "items": {"type": "string", "maxLength": 80}, "maxItems": 2},
    },
    "required": ["answer", "confidence", "sources"],
    "additionalProperties": False,
}
TASK = (
    "Call the tool `subagent` once, with the description `planets` and the prompt "
    "`Which planet of the solar system is the largest?`."
)


@dataclass(frozen=True, kw_only=True)
class Server:
    url: str
    model: str
    key: str
    stream: bool


@pytest.fixture
def server() -> Server:
    url = os.environ.get("DSH_LLM_BASE_URL")
    if not url:
        pytest.skip("DSH_LLM_BASE_URL names no OpenAI-compatible server")
    return Server(
        url=url,
        model=os.environ.get("DSH_LLM_MODEL", "default"),
        key=os.environ.get("DSH_LLM_API_KEY", "unused"),
        stream=os.environ.get("DSH_LLM_STREAM") != "off",
    )


async def trial(server: Server, model: OpenAIModel, tool_choice: ToolChoice, seed: int) -> str:
    """What became of one delegation: ``passed``, or what went wrong."""
    forced = tool_choice == "required"
    options: dict[str, object] = {"temperature": 0.2, "seed": seed, "max_tokens": 400}
    if forced:
        options["tool_choice"] = "required"  # of every request, the child's included
    defaults = AgentOptions(model=server.model, options=options, max_steps=1)
    steps = 1 if forced else CHILD_STEPS
    async with open_host(options=defaults) as host:
        host.models.register(model, server.model)
        subagents = SubagentService()
        subagents.register(SpawnProvider(host.agents))
        config = SubagentToolConfig(
            provider="spawn", output_schema=SCHEMA, max_depth=1, max_steps=steps
        )
        with mount_subagent_tool(host, subagents, config):
            async with host.agents.open(AgentSpec()) as agent:
                agent.send(TASK, tool_choice=tool_choice)
                await agent.wait_idle()
                check_log(agent.session.events)
                return judged(agent)


def judged(agent: Agent) -> str:
    """Whether the first call was a delegation that brought a structured answer back."""
    events = agent.session.events
    called = next((e.call for e in events if isinstance(e, ToolCalled)), None)
    if called is None:
        return f"no call: {events[-2:]}"
    result = next(e.result for e in events if isinstance(e, ToolResulted))
    if called.name != "subagent" or result.is_error:
        return f"{called.name}({called.arguments}): {text_of(result)}"
    violations = validate_structured_value(SCHEMA, json.loads(text_of(result)))
    return "; ".join(violations) or "passed"


def text_of(result: ToolResultBlock) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextBlock))


@pytest.mark.parametrize(
    ("tool_choice", "enough"),
    [pytest.param("required", 20, id="forced"), pytest.param("auto", 14, id="free")],
)
async def test_delegations_succeed(server: Server, tool_choice: ToolChoice, enough: int) -> None:
    config = OpenAIConfig(
        base_url=server.url, api_key=SecretStr(server.key), timeout=600, stream=server.stream
    )
    limiter = trio.CapacityLimiter(AT_ONCE)
    outcomes: list[str] = []

    async def one(seed: int) -> None:
        async with limiter:
            outcomes.append(await trial(server, model, tool_choice, seed))

    async with OpenAIModel(config) as model, trio.open_nursery() as nursery:
        for seed in range(TRIALS):
            nursery.start_soon(one, seed)
    passed = outcomes.count("passed")
    failures = "\n".join(outcome for outcome in outcomes if outcome != "passed")
    print(f"{tool_choice}: {passed} of {TRIALS}\n{failures}")
    assert passed >= enough, failures
