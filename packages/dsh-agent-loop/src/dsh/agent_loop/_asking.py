"""One model request: what it carries, and what comes of it."""

from typing import final

import trio

from dsh.agent import (
    MODEL_CALL,
    Assembly,
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
    assemble,
    valid_text,
)
from dsh.agent_loop._errors import NoModelError
from dsh.agent_loop._open_turn import OpenTurn
from dsh.agent_loop._taker import TurnTaker

__all__ = ["answer", "assembled", "request_header"]


async def assembled(agent: TurnTaker) -> Assembly:
    """System text and tools of the next request: those of its header where it has one."""
    if (header := agent.header) is not None:
        return Assembly(system=header.system, tools=header.tools)
    return await assemble(
        agent,
        hooks=agent.hooks_in_force,
        tools=agent.tools_in_force,
        prompt=agent.prompt_in_force,
    )


async def request_header(turn: OpenTurn, assembly: Assembly) -> RequestHeader:
    """What the request carries beside the messages; logged if it is not what was sent last.

    Raises:
      NoModelError: the agent has no model, and no hook supplies one.
    """
    agent = turn.agent
    own = agent.options if agent.header is None else agent.header
    model, options = own.model, own.options
    if turn.hooks.hears(MODEL_CALL):
        config = await turn.hooks.run_filter(
            MODEL_CALL, ModelCallConfig(model=model, options=options), turn.context
        )
        model, options = config.model, config.options
    if model is None:
        raise NoModelError(agent.id)
    header = RequestHeader(
        model=model, system=assembly.system, tools=assembly.tools, options=options
    )
    if not header.asks_like(agent.session.request_header):
        turn.log(header)
    return header


async def answer(turn: OpenTurn, header: RequestHeader) -> ChatResponse:
    """Ask the agent's model.

    What a failed request had answered and cost by then is kept and counted.

    Raises:
      ModelError: the model could not answer.
    """
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
    await trio.lowlevel.checkpoint_if_cancelled()
    agent.count_request()
    answered = False
    try:
        response = await agent.models.generate(request, on_delta=stream)
        answered = True
    except ModelError as error:
        if error.response is not None:
            stream.note_failed(error.response)
        raise
    finally:
        stream.is_over = True
        if stream.texts and not answered:
            turn.log(PartialMessage(text=valid_text("".join(stream.texts))))
    agent.count_usage(response.usage)
    return response


@final
class _Stream:
    """Hears an answer being written: keeps its visible text, passes the pieces on."""

    __slots__ = ("_turn", "is_over", "texts")

    def __init__(self, turn: OpenTurn) -> None:
        self._turn = turn
        self.texts: list[str] = []
        self.is_over = False
        """Whether pieces come too late: a model may keep what it tells them to."""

    def __call__(self, delta: Delta) -> None:
        if self.is_over:
            return
        if not isinstance(getattr(delta, "text", None), str):
            raise TypeError(
                f"a model's delta is a TextDelta or ThinkingDelta with a str, not {delta!r:.80}"
            )
        if isinstance(delta, TextDelta):
            self.texts.append(delta.text)
        if self._turn.hooks.hears(ModelDelta):
            self._turn.hooks.dispatch(ModelDelta(agent_id=self._turn.agent.id, delta=delta))

    def note_failed(self, response: ChatResponse) -> None:
        """Count what an answer that failed has cost, and keep its text."""
        self._turn.agent.count_usage(response.usage)
        if not self.texts:
            self.texts = [block.text for block in response.content if isinstance(block, TextBlock)]
