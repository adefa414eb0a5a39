"""A turn and its steps: the loop."""

from collections.abc import Sequence

from dsh.agent import (
    Agent,
    AssistantMessage,
    ChatRequest,
    ChatResponse,
    Delta,
    Message,
    ModelRegistry,
    RequestHeader,
    StepEnded,
    StepStarted,
    StopReason,
    ToolCallBlock,
    ToolCalled,
    ToolResultBlock,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    UserMessage,
    assemble,
)

__all__ = ["run_turn"]


async def run_turn(agent: Agent, models: ModelRegistry, prompts: Sequence[Message]) -> None:
    """Serve *prompts* as one turn of *agent*, from its start to its end in the log."""
    session = agent.session
    turn = session.turns + 1
    reason, detail = "aborted", None
    session.append(TurnStarted(turn=turn))
    try:
        for prompt in prompts:
            session.append(UserMessage(message=prompt))
        step = 1
        while (reason := await _run_step(agent, models, turn, step)) == "tool_calls":
            step += 1
    except Exception as exc:  # noqa: BLE001 - an error is contained in its turn (B-AGT-46)
        reason, detail = "error", str(exc)
    finally:
        session.append(TurnEnded(turn=turn, reason=reason, detail=detail))


async def _run_step(agent: Agent, models: ModelRegistry, turn: int, step: int) -> StopReason:
    session = agent.session
    session.append(StepStarted(turn=turn, step=step))
    try:
        response = await _ask(agent, models)
        session.append(
            AssistantMessage(
                message=Message(role="assistant", content=response.content, source="model"),
                finish_reason=response.finish_reason,
                usage=response.usage,
            )
        )
        if response.finish_reason != "tool_calls":
            return "completed" if response.finish_reason == "stop" else response.finish_reason
        for block in response.content:
            if isinstance(block, ToolCallBlock):
                await _call(agent, block)
        return "tool_calls"
    finally:
        session.append(StepEnded(turn=turn, step=step))


async def _ask(agent: Agent, models: ModelRegistry) -> ChatResponse:
    session = agent.session
    assembly = await assemble(agent)
    header = RequestHeader(
        model=agent.options.model or "default", system=assembly.system, tools=assembly.tools
    )
    session.append(header)
    request = ChatRequest(
        model=header.model,
        messages=session.messages,
        system=header.system,
        tools=header.tools,
        session_id=session.header.id,
    )
    return await models.generate(request, on_delta=_ignore)


def _ignore(delta: Delta) -> None:
    pass


async def _call(agent: Agent, block: ToolCallBlock) -> None:
    agent.session.append(ToolCalled(call=block))
    result = await agent.tools.execute(block, agent=agent)
    agent.session.append(
        ToolResulted(
            result=ToolResultBlock(
                call_id=block.id, content=result.content, is_error=result.is_error
            ),
            code=result.code,
        )
    )
