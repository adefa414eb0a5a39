"""google-adk: a runner with sessions in memory, one for each child."""
# Checked without the peer, which is installed only where this runs.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from pydantic import BaseModel

from benchmarks.peers.cases import Gate, asyncio_cases

__all__ = ["CASES"]

APP, USER = "benchmark", "somebody"
ARGUMENTS = {"trivial": {"prompt": "count them"}, "delegate": {"request": "count them"}}

USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=9, candidates_token_count=5, total_token_count=14
)


class Count(BaseModel):
    """How many there are."""

    v: int


class Scripted(BaseLlm):
    """Calls the tool named by *calls* when asked to go, and answers *text* otherwise."""

    gate: Any
    calls: str | None = None
    text: str = "12"

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        await self.gate.passes()
        part = types.Part.from_text(text=self.text)
        if self.calls and llm_request.contents[-1].parts[0].text == "go":
            part = types.Part.from_function_call(name=self.calls, args=ARGUMENTS[self.calls])
        content = types.Content(role="model", parts=[part])
        yield LlmResponse(content=content, usage_metadata=USAGE)


def _agent(name: str, gate: Gate, *, tools: Any = (), **fields: Any) -> LlmAgent:
    model = Scripted(model="scripted", gate=gate, **fields.pop("script", {}))
    return LlmAgent(name=name, model=model, tools=list(tools), **fields)


async def trivial(prompt: str) -> str:
    """Do nothing."""
    return "12"


def _said(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part.from_text(text=text)])


def _runs(
    agent: LlmAgent, *, prompt: str = "count them", answer: str = "12", past: Any = ()
) -> Callable[[], Awaitable[list[Any]]]:
    runner = InMemoryRunner(agent, app_name=APP)

    async def run() -> list[Any]:
        sessions = runner.session_service
        session = await sessions.create_session(app_name=APP, user_id=USER)
        # To append them one by one compares each with all before it.
        sessions.sessions[APP][USER][session.id].events.extend(past)
        events = [
            event
            async for event in runner.run_async(
                user_id=USER, session_id=session.id, new_message=_said(prompt)
            )
        ]
        assert events[-1].content.parts[0].text == answer, events
        await sessions.delete_session(app_name=APP, user_id=USER, session_id=session.id)
        return events

    return run


def parent(called: str) -> Callable[[], Awaitable[object]]:
    delegate = AgentTool(_agent("delegate", Gate(), description="Does it."))
    agent = _agent("parent", Gate(), tools=[trivial, delegate], script={"calls": called})
    run = _runs(agent, prompt="go")

    async def turn() -> None:
        events = await run()
        assert len(events) == 3
        (response,) = events[1].get_function_responses()
        assert response.response == {"result": "12"}, response

    return turn


def children(gate: Gate) -> Callable[[], Awaitable[object]]:
    return _runs(_agent("child", gate))


def structured() -> Callable[[], Awaitable[object]]:
    answer = '{"v": 12}'
    agent = _agent("child", Gate(), output_schema=Count, script={"text": answer})
    return _runs(agent, answer=answer)


def given(messages: int) -> Callable[[], Awaitable[object]]:
    past = [
        Event(author=author, content=_said(f"message {number}", role))
        for number in range(messages // 2)
        for author, role in (("user", "user"), ("child", "model"))
    ]
    return _runs(_agent("child", Gate()), past=past)


CASES = asyncio_cases(
    parent=parent,
    children=children,
    structured=structured,
    given=given,
    imports=("google.adk.runners", "google.adk.agents"),
)
