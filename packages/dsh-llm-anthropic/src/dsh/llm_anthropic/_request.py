"""A request, as Anthropic's wire has it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias, assert_never, cast

from dsh.agent import (
    ChatRequest,
    ContentBlock,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolChoice,
    ToolResultBlock,
    thaw_json,
    valid_text,
)
from dsh.agent.wire import sendable_messages
from dsh.llm_anthropic._config import AnthropicConfig
from dsh.llm_anthropic._thinking import wire_block

__all__ = ["Json", "request_body"]

Json: TypeAlias = dict[str, Any]  # the wire's own shape; the API is its judge

TOOL_CHOICES: Final[dict[ToolChoice, str]] = {"auto": "auto", "required": "any", "none": "none"}


def request_body(request: ChatRequest, config: AnthropicConfig) -> Json:
    """The JSON body for *request*; what is absent in it stays absent (B-LLM-09).

    Two rules of the API are kept whatever the request says: reasoning is off where a tool is
    forced, and calls in the conversation demand that tools are declared.
    """
    model = config.model or request.model
    names = {tool.name for tool in request.tools or ()}
    messages = sendable_messages(request.messages, tool_names=names)
    options = cast("Json", {name: thaw_json(value) for name, value in request.options.items()})
    if request.tools is not None and request.tool_choice == "required":
        options.pop("thinking", None)
    body: Json = {
        "model": model,
        "max_tokens": config.max_tokens + _thinking_budget(options),
        "messages": [{"role": m.role, "content": _content(m, model)} for m in messages],
        "stream": True,
    }
    if request.system:
        body["system"] = [{"type": "text", "text": valid_text(request.system)}]
    if (tools := _tools(request, messages)) is not None:
        body["tools"] = tools
        choice = "none" if request.tools is None else TOOL_CHOICES[request.tool_choice]
        body["tool_choice"] = {"type": choice}
    body |= options
    if config.cache != "off":
        _mark_for_cache(body, config.cache)
    return body


def _thinking_budget(options: Json) -> int:
    thinking = options.get("thinking")
    budget = cast("Json", thinking).get("budget_tokens") if isinstance(thinking, dict) else 0
    return budget if isinstance(budget, int) else 0


def _tools(request: ChatRequest, messages: Iterable[Message]) -> list[Json] | None:
    """The tools on offer; where none are but the conversation has calls, their bare names."""
    if request.tools is not None:
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": {"type": "object", **cast("Json", thaw_json(tool.parameters))},
            }
            for tool in request.tools
        ]
    called = dict.fromkeys(
        block.name for m in messages for block in m.content if isinstance(block, ToolCallBlock)
    )
    return [{"name": name, "input_schema": {"type": "object"}} for name in called] or None


def _content(message: Message, model: str) -> list[Json]:
    blocks = [_block(block, model) for block in message.content]
    return [block for block in blocks if block is not None]


def _block(block: ContentBlock, model: str) -> Json | None:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ThinkingBlock():
            return wire_block(block, model)
        case ImageBlock():
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": "image", "source": source}
        case ToolCallBlock():
            # `sendable_messages` has made the arguments a JSON object.
            arguments: object = json.loads(block.arguments)
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}
        case ToolResultBlock():
            return _result(block, model)
        case _:
            assert_never(block)


def _result(block: ToolResultBlock, model: str) -> Json:
    content = [_block(part, model) for part in block.content]
    result: Json = {"type": "tool_result", "tool_use_id": block.call_id, "content": content}
    return {**result, "is_error": True} if block.is_error else result


def _mark_for_cache(body: Json, lifetime: str) -> None:
    """Let the API cache what the next request repeats.

    Up to the system text (before which it has the tools), which any conversation of the agent
    shares, and up to the last message, which the next step of this one does.
    """
    mark = {"type": "ephemeral"} if lifetime == "5m" else {"type": "ephemeral", "ttl": lifetime}
    head: Sequence[Json] = body.get("system") or body.get("tools") or ()
    last: Sequence[Json] = body["messages"][-1]["content"] if body["messages"] else ()
    for blocks in (head, last):
        if blocks and blocks[-1].get("type") not in ("thinking", "redacted_thinking"):
            blocks[-1]["cache_control"] = mark
