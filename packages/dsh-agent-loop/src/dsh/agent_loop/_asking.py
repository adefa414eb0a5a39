"""One model request: what it carries, and what comes of it."""

from typing import final

import trio

from dsh.agent import (
    MODEL_CALL,
    STEP_RESULT,
    ChatRequest,
    ChatResponse,
    Delta,
    ModelCallConfig,
    ModelDelta,
    ModelError,
    PartialMessage,
    RequestHeader,
    TextBlock,
    TextDelta,
    ToolSchema,
)
from dsh.agent_loop._errors import NoModelError
from dsh.agent_loop._open_turn import OpenTurn
from dsh.agent_loop._repair import valid_text

__all__ = ["ask", "assembled"]


async def assembled(turn: OpenTurn) -> tuple[str | None, tuple[ToolSchema, ...] | None]:
    """System text and tools of the next request."""
    agent = turn.agent
    if agent.header is not None:
        return agent.header.system, agent.header.tools
    return agent.prompt_in_force.render(), agent.tools_in_force.schemas()


async def ask(
    turn: OpenTurn, system: str | None, tools: tuple[ToolSchema, ...] | None
) -> ChatResponse:
    """Ask the agent's model, and let the step-result filter have its answer.

    An answer that says it failed is raised like one that did (B-LLM-03).

    Raises:
      NoModelError: the agent has no model, and no hook supplies one.
      ModelError: the model could not answer.
    """
    header = await _header(turn, system, tools)
    response = await _answer(turn, header)
    turn.agent.count(response.usage)
    if response.finish_reason in ("aborted", "error"):
        text = "".join(block.text for block in response.content if isinstance(block, TextBlock))
        _log_partial(turn, text)
        code = response.code or ("ABORTED" if response.finish_reason == "aborted" else "UNKNOWN")
        raise ModelError(response.detail or f"the model ended its answer: {code}", code=code)
    return await turn.hooks.run_filter(STEP_RESULT, response, turn.context)


async def _header(
    turn: OpenTurn, system: str | None, tools: tuple[ToolSchema, ...] | None
) -> RequestHeader:
    """What the request carries beside the messages; logged if it is not what was sent last."""
    agent = turn.agent
    if (header := agent.header) is None:
        config = await turn.hooks.run_filter(
            MODEL_CALL,
            ModelCallConfig(model=agent.options.model, options=agent.options.options),
            turn.context,
        )
        if config.model is None:
            raise NoModelError(agent.id)
        header = RequestHeader(
            model=config.model, system=system, tools=tools, options=config.options
        )
    if not header.asks_like(agent.session.request_header):
        turn.log(header)
    return header


async def _answer(turn: OpenTurn, header: RequestHeader) -> ChatResponse:
    agent = turn.agent
    tool_choice, turn.tool_choice = turn.tool_choice, "auto"
    request = ChatRequest(
        model=header.model,
        messages=agent.session.messages,
        system=header.system,
        tools=header.tools,
        tool_choice=tool_choice,
        options=header.options,
        session_id=agent.session.header.id,
    )
    stream = _Stream(turn)
    agent.model_requests += 1
    await trio.lowlevel.checkpoint_if_cancelled()
    response: object = None
    try:
        response = await _generate(turn, request, stream)
    finally:
        if response is None:
            _log_partial(turn, "".join(stream.texts))
    if not isinstance(response, ChatResponse):
        raise ModelError(
            f"model {header.model!r} answered with a {type(response).__name__}, not a ChatResponse",
            code="MALFORMED_RESPONSE",
        )
    return response


@trio.lowlevel.disable_ki_protection
async def _generate(turn: OpenTurn, request: ChatRequest, stream: "_Stream") -> object:
    return await turn.agent.host.models.generate(request, on_delta=stream)


def _log_partial(turn: OpenTurn, text: str) -> None:
    """Keep the visible text of an answer that was cut off."""
    if text:
        turn.log(PartialMessage(text=valid_text(text)))


@final
class _Stream:
    """Hears an answer being written: keeps its visible text, passes the pieces on."""

    __slots__ = ("_turn", "texts")

    def __init__(self, turn: OpenTurn) -> None:
        self._turn = turn
        self.texts: list[str] = []

    def __call__(self, delta: Delta) -> None:
        if isinstance(delta, TextDelta):
            self.texts.append(delta.text)
        self._turn.hooks.dispatch(ModelDelta(agent_id=self._turn.agent.id, delta=delta))
