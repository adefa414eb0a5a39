"""A model that is a function of the request: it delegates as deep and as wide as it is told.

``dig 2`` delegates ``dig 1``, whose child delegates ``dig 0``, which says ``bottom``. ``fan 8``
delegates ``dig 0`` eight times in one response, ``fan 2 3`` delegates ``dig 3`` twice. Whoever gets
results says them, joined.
"""

import trio

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    OnDelta,
    TextBlock,
    TextDelta,
    ToolResultBlock,
    Usage,
)
from dsh.agent.testing import call, reply, say

ONE = Usage(input_tokens=9, output_tokens=1)


def told(request: ChatRequest) -> tuple[str, list[str]]:
    """What the user last asked for, and the results that came since."""
    prompt, results = "", list[str]()
    for message in request.messages:
        for block in message.content:
            if isinstance(block, TextBlock) and message.source == "user":
                prompt, results = block.text, []
            elif isinstance(block, ToolResultBlock):
                results += [part.text for part in block.content if isinstance(part, TextBlock)]
    return prompt, results


def answer(request: ChatRequest, tool: str = "subagent") -> ChatResponse:
    """The answer to *request*, as the module says."""
    prompt, results = told(request)
    if results:
        return say(" ".join(results), usage=ONE)
    match prompt.split()[-3:]:
        case [*_, "dig", depth] if int(depth) > 0:
            parts = [f"dig {int(depth) - 1}"]
        case ["fan", width, depth]:
            parts = [f"dig {depth}"] * int(width)
        case [*_, "fan", width]:
            parts = ["dig 0"] * int(width)
        case _:
            return say("bottom", usage=ONE)
    calls = (
        call(tool, call_id=f"c{number}", description="deeper", prompt=part)
        for number, part in enumerate(parts)
    )
    return ChatResponse(content=reply(*calls).content, finish_reason="tool_calls", usage=ONE)


class DiggingModel:
    """Answers as the module says; notes how many requests were under way at once."""

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []
        self.under_way = 0
        self.most_under_way = 0

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel``."""
        self.requests.append(request)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
        finally:
            self.under_way -= 1
        response = answer(request)
        for block in response.content:
            if isinstance(block, TextBlock):
                on_delta(TextDelta(text=block.text))
        return response
