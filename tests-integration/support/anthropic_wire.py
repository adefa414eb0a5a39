"""Anthropic's wire as its API sees it, and answers as it streams them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fake_endpoint import Body, Reply, event, refusal

from dsh.agent import (
    ContentBlock,
    FinishReason,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    Usage,
)

KEY = "sk-ant-loopback-0123456789"
FINISHES: Mapping[FinishReason, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "error": "pause_turn",
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SIGNED = "proof"
"""What every signature of this API begins with; it takes back no other."""


def refuse(path: str, headers: Mapping[str, str], body: Body) -> Reply | None:
    """What the API would answer to a request it does not take."""
    if path != "/v1/messages":
        return refusal(404, f"no such path: {path}")
    given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
    if given != KEY or "anthropic-version" not in headers:
        return refusal(401, f"invalid key: {given}")
    problem = _problem(body) or _messages_problem(body["messages"], "tools" in body)
    return None if problem is None else refusal(400, problem)


def _problem(body: Body) -> str | None:
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        return "max_tokens: Field required"
    if not body.get("model") or body.get("stream") is not True:
        return "no model, or no stream"
    if json.dumps(body).count('"cache_control"') > 4:
        return "A maximum of 4 blocks with cache_control may be provided."
    for block in body.get("system", ()):
        if problem := _block_problem(block):
            return f"system: {problem}"
    thinking: Body = body.get("thinking", {"type": "disabled"})
    if thinking["type"] == "enabled" and not 1024 <= thinking["budget_tokens"] < body["max_tokens"]:
        return "max_tokens must be greater than thinking.budget_tokens"
    choice = body.get("tool_choice", {"type": "auto"})["type"]
    if choice not in ("auto", "any", "none") or ("tool_choice" in body and not body.get("tools")):
        return "bad tool_choice"
    if choice == "any" and thinking["type"] != "disabled":
        return "Thinking may not be enabled when tool_choice forces tool use."
    return next((p for tool in body.get("tools", ()) if (p := _tool_problem(tool))), None)


def _tool_problem(tool: Body) -> str | None:
    if not NAME.fullmatch(tool["name"]):
        return f"bad tool name {tool['name']!r}"
    if tool["input_schema"].get("type") != "object":
        return "input_schema.type: Input should be 'object'"
    return None


def _messages_problem(messages: Sequence[Body], tools: bool) -> str | None:
    if not messages or messages[0]["role"] != "user":
        return "messages: first message must use the user role"
    asked: list[str] = []
    used: set[str] = set()
    for position, message in enumerate(messages):
        where, content = f"messages.{position}", message["content"]
        if message["role"] != ("user", "assistant")[position % 2]:
            return f"{where}: roles must alternate"
        if not content:
            return f"{where}: content must not be empty"
        kinds = [block["type"] for block in content]
        answered = [b["tool_use_id"] for b in content if b["type"] == "tool_result"]
        if sorted(answered) != sorted(asked) or "tool_result" in kinds[len(answered) :]:
            return f"{where}: tool_use ids {asked} without tool_result blocks immediately after"
        asked = [block["id"] for block in content if block["type"] == "tool_use"]
        if len(set(asked)) < len(asked) or used & set(asked):
            return f"{where}: tool_use ids must be unique"
        used |= set(asked)
        for block in content:
            if problem := _block_problem(block):
                return f"{where}: {problem}"
    if used and not tools:
        return "Requests which include tool_use or tool_result blocks must define tools"
    return f"tool_use ids {asked} without results" if asked else None


def _block_problem(block: Body) -> str | None:
    match block["type"]:
        case "text":
            return None if block["text"].strip() else "text must contain non-whitespace text"
        case "tool_use":
            if not NAME.fullmatch(block["name"]) or not NAME.fullmatch(block["id"]):
                return "bad name or id"
            return None if isinstance(block["input"], dict) else "input should be an object"
        case "tool_result":
            return next((p for part in block["content"] if (p := _block_problem(part))), None)
        case "thinking" if not block["signature"].startswith(SIGNED):
            return "Invalid `signature` in `thinking` block"
        case "redacted_thinking" if not block["data"].startswith(SIGNED):
            return "Invalid `data` in `redacted_thinking` block"
        case "thinking" | "redacted_thinking":
            return "cache_control is not permitted here" if "cache_control" in block else None
        case "image":
            return None if block["source"]["type"] == "base64" else "bad source"
        case other:
            return f"unknown block type {other}"


def named(type: str, **fields: object) -> bytes:
    """One event of the wire, which says its type twice."""
    return event({"type": type, **fields}, name=type)


def _start(usage: Usage) -> bytes:
    counts = {
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": 1,
    }
    return named("message_start", message={"id": "msg", "role": "assistant", "usage": counts})


def answer(
    *blocks: ContentBlock, finish: FinishReason = "stop", usage: Usage = Usage(input_tokens=1)
) -> Reply:
    """A whole answer, every text in two deltas; a call with an empty id gets none."""
    chunks = [_start(usage), named("ping")]
    chunks += [piece for index, block in enumerate(blocks) for piece in _pieces(index, block)]
    total = {
        "output_tokens": usage.output_tokens + usage.reasoning_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }
    end = named("message_delta", delta={"stop_reason": FINISHES[finish]}, usage=total)
    return Reply(chunks=[*chunks, end, named("message_stop")])


def _pieces(index: int, block: ContentBlock) -> Iterator[bytes]:
    begin, deltas = _parts(block)
    yield named("content_block_start", index=index, content_block=begin)
    for delta in deltas:
        yield named("content_block_delta", index=index, delta=delta)
    yield named("content_block_stop", index=index)


def _parts(block: ContentBlock) -> tuple[dict[str, object], Sequence[Mapping[str, object]]]:
    match block:
        case TextBlock():
            deltas = [{"type": "text_delta", "text": half} for half in _halves(block.text)]
            return {"type": "text", "text": ""}, [*deltas]
        case ThinkingBlock(text=""):
            return {"type": "redacted_thinking", "data": block.signature}, []
        case ThinkingBlock():
            halves = _halves(block.text)
            thoughts = [{"type": "thinking_delta", "thinking": half} for half in halves]
            proof = {"type": "signature_delta", "signature": block.signature}
            return {"type": "thinking", "thinking": "", "signature": ""}, [*thoughts, proof]
        case ToolCallBlock():
            halves = _halves(block.arguments)
            pieces = [{"type": "input_json_delta", "partial_json": half} for half in halves]
            known = {"id": block.id} if block.id else {}
            return {"type": "tool_use", **known, "name": block.name, "input": {}}, [*pieces]
        case _:
            raise AssertionError(block)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def begun(text: str) -> list[bytes]:
    """The chunks of an answer that has begun with *text* and is not over."""
    block = named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    delta = {"type": "text_delta", "text": text}
    return [_start(Usage()), block, named("content_block_delta", index=0, delta=delta)]


def failed(message: str) -> bytes:
    """An overload in the middle of a stream."""
    return named("error", error={"type": "overloaded_error", "message": message})


def _blocks(body: Body, type: str) -> Iterator[Mapping[str, Any]]:
    for message in body["messages"]:
        yield from (block for block in message["content"] if block["type"] == type)


def results(body: Body) -> list[tuple[str, str]]:
    """The results of calls that a request carries: id and text."""
    return [
        (block["tool_use_id"], "".join(part.get("text", "") for part in block["content"]))
        for block in _blocks(body, "tool_result")
    ]


def arguments(body: Body) -> list[object]:
    """The arguments of the calls that a request carries."""
    return [block["input"] for block in _blocks(body, "tool_use")]
