"""Short words for requests and answers in the tests of chat models."""

from typing import Any

from dsh.agent import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Delta,
    Message,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSchema,
)

TOOL = ToolSchema(name="look", description="Looks.", parameters={"type": "object"})


def user(text: str) -> Message:
    return Message(role="user", content=(TextBlock(text=text),))


def asked(*calls: ToolCallBlock) -> Message:
    return Message(role="assistant", content=calls, source="model")


def call(id: str, arguments: str = "{}", *, name: str = "look") -> ToolCallBlock:
    return ToolCallBlock(id=id, name=name, arguments=arguments)


def answered(id: str, text: str, *, is_error: bool = False) -> Message:
    block = ToolResultBlock(call_id=id, content=(TextBlock(text=text),), is_error=is_error)
    return Message(role="user", content=(block,), source="tool")


def request(*messages: Message, **fields: Any) -> ChatRequest:
    return ChatRequest(model="m-1", messages=messages or (user("hi"),), **fields)


async def ask(
    model: ChatModel, asking: ChatRequest | None = None, *, heard: list[Delta] | None = None
) -> ChatResponse:
    """The model's answer to *asking*; *heard* collects its deltas."""
    deltas = [] if heard is None else heard
    return await model.generate(asking or request(), on_delta=deltas.append)
