"""A request, as the chat-completions wire has it."""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from dsh.agent import (
    ChatRequest,
    ImageBlock,
    Message,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSchema,
    thaw_json,
    valid_text,
)
from dsh.agent.wire import lower_schema, sendable_messages
from dsh.llm_openai._config import OpenAIConfig

__all__ = ["Json", "request_body"]

Json: TypeAlias = dict[str, Any]  # the wire's own shape; the endpoint is its judge


def request_body(request: ChatRequest, config: OpenAIConfig) -> Json:
    """The JSON body for *request*; what is absent in it stays absent (B-LLM-09).

    Raises:
      ModelError: the schema of a tool cannot be lowered (``INVALID_REQUEST``).
    """
    tools = request.tools
    names = {tool.name for tool in tools or ()}
    body: Json = {
        "model": config.model or request.model,
        "messages": _messages(
            request, config, sendable_messages(request.messages, tool_names=names)
        ),
        "stream": config.stream,
    }
    if config.stream:
        body["stream_options"] = {"include_usage": True}
    if tools is not None:
        body["tools"] = [_tool(tool, config) for tool in tools]
        body["tool_choice"] = request.tool_choice
    for option, value in request.options.items():
        body[config.max_tokens_field if option == "max_tokens" else option] = thaw_json(value)
    return body


def _messages(
    request: ChatRequest, config: OpenAIConfig, messages: Sequence[Message]
) -> list[Json]:
    sent: list[Json] = []
    if request.system:
        sent.append({"role": "system", "content": valid_text(request.system)})
    last_prompt = max((i for i, message in enumerate(messages) if _is_prompt(message)), default=0)
    for position, message in enumerate(messages):
        if message.role == "assistant":
            reasoning = config.send_reasoning == "current_turn" and position > last_prompt
            sent.append(_assistant(message, reasoning=reasoning))
        else:
            sent += _user(message.content)
    return sent


def _is_prompt(message: Message) -> bool:
    return message.role == "user" and not all(
        isinstance(block, ToolResultBlock) for block in message.content
    )


def _tool(tool: ToolSchema, config: OpenAIConfig) -> Json:
    parameters = (
        lower_schema(tool.parameters, where=f"tool {tool.name!r}")
        if config.lower_schemas
        else cast("Json", thaw_json(tool.parameters))
    )
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _assistant(message: Message, *, reasoning: bool) -> Json:
    text = "".join(block.text for block in message.content if isinstance(block, TextBlock))
    calls = [_call(block) for block in message.content if isinstance(block, ToolCallBlock)]
    sent: Json = {"role": "assistant", "content": text or None}
    if calls:
        sent["tool_calls"] = calls
    if reasoning and (thoughts := _own_thoughts(message)):
        sent["reasoning_content"] = thoughts
    return sent


def _call(block: ToolCallBlock) -> Json:
    function = {"name": block.name, "arguments": block.arguments}
    return {"id": block.id, "type": "function", "function": function}


def _own_thoughts(message: Message) -> str:
    """Reasoning that came over this wire, which signs none: a signed one is another provider's."""
    return "".join(
        block.text
        for block in message.content
        if isinstance(block, ThinkingBlock) and block.signature is None
    )


def _user(content: Sequence[object]) -> list[Json]:
    """Tool results as messages of their own, then what else was said, in one."""
    results = [block for block in content if isinstance(block, ToolResultBlock)]
    sent: list[Json] = [
        {"role": "tool", "tool_call_id": result.call_id, "content": _result_text(result.content)}
        for result in results
    ]
    # This wire has no pictures in a tool's answer: they follow as what the user shows.
    parts = [_part(block) for r in results for block in r.content if isinstance(block, ImageBlock)]
    parts += [_part(block) for block in content if isinstance(block, TextBlock | ImageBlock)]
    if parts:
        texts = [part["text"] for part in parts if part["type"] == "text"]
        plain = len(texts) == len(parts)
        sent.append({"role": "user", "content": "\n\n".join(texts) if plain else parts})
    return sent


def _result_text(content: Sequence[ResultBlock]) -> str:
    text = "".join(block.text for block in content if isinstance(block, TextBlock))
    return text or "(see the picture below)"


def _part(block: TextBlock | ImageBlock) -> Json:
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    url = f"data:{block.media_type};base64,{block.data}"
    return {"type": "image_url", "image_url": {"url": url}}
