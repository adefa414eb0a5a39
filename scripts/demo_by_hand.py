"""A stand-in for the model of the demo: turns written by hand, chosen by what is asked last."""

import json
from dataclasses import dataclass
from typing import Final, final

from dsh.agent import (
    ChatRequest,
    ChatResponse,
    ContentBlock,
    OnDelta,
    TextBlock,
    TextDelta,
    ToolCallBlock,
    ToolResultBlock,
)

TASKS: Final = {
    "notes.txt": ("ask_fresh", "read the notes"),
    "which file": ("ask_fork", "find the file"),
    "plants.csv": ("ask_fields", "find the thirstiest plant"),
}
"""A word of a user's turn to the tool that is called and the description it gets."""

CHILDREN: Final = {
    "notes.txt": "On Friday the ripe tomatoes are to be picked.",
    "which file": "plants.csv",
}
"""A word of a child's prompt to its answer."""

PROMPT: Final = "Its prompt must be: "


@final
@dataclass(frozen=True, kw_only=True)
class ByHand:
    """Answers every request that the demo makes."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See `dsh.agent.ChatModel.generate`."""
        asked = [text for m in request.messages if m.role == "user" and (text := _text(m.content))]
        result = _result(request.messages[-1].content)
        answer = _answer(asked[-1], result)
        if isinstance(answer, ToolCallBlock):
            return ChatResponse(content=(answer,), finish_reason="tool_calls")
        on_delta(TextDelta(text=answer))
        return ChatResponse(content=(TextBlock(text=answer),))


def _answer(asked: str, result: str | None) -> str | ToolCallBlock:
    if PROMPT in asked:
        word = next(word for word in TASKS if word in asked)
        tool, description = TASKS[word]
        if result is not None:
            return f"It answered: {result}"
        return _call(tool, description=description, prompt=asked.partition(PROMPT)[2])
    if "README.md" in asked:
        return (result and "The project grows tomatoes, basil and lemons.") or _read("README.md")
    if "plants.csv" in asked:
        if result is not None:
            return _call("structured_output", plant="tomato", litres=12)
        return _read("plants.csv")
    if "notes.txt" in asked:
        return CHILDREN["notes.txt"] if result is not None else _read("notes.txt")
    return CHILDREN["which file"]


def _read(path: str) -> ToolCallBlock:
    return _call("read_file", path=path)


def _call(name: str, **arguments: object) -> ToolCallBlock:
    text = json.dumps(arguments)
    return ToolCallBlock(id=f"{name}-{len(text)}", name=name, arguments=text)


def _text(content: tuple[ContentBlock, ...]) -> str:
    return "".join(block.text for block in content if isinstance(block, TextBlock))


def _result(content: tuple[ContentBlock, ...]) -> str | None:
    results = [block for block in content if isinstance(block, ToolResultBlock)]
    return _text(tuple(results[-1].content)) if results else None
