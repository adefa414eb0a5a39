"""The chat-completions wire as its strictest server sees it, and answers as it streams them."""

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

KEY = "sk-loopback-0123456789"
FINISHES: Mapping[FinishReason, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
    "error": "insufficient_system_resource",
}
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refuse(path: str, headers: Mapping[str, str], body: Body) -> Reply | None:
    """What a strict server would answer to a request it does not take."""
    if path != "/chat/completions":
        return refusal(404, f"no such path: {path}")
    if headers.get("authorization") != f"Bearer {KEY}":
        return refusal(401, f"wrong key: {headers.get('authorization')}")
    problem = _problem(body)
    return None if problem is None else refusal(400, problem)


def _problem(body: Body) -> str | None:
    if not body.get("model") or not isinstance(body.get("stream"), bool):
        return "no model, or no stream"
    if "tool_choice" in body and "tools" not in body:
        return "tool_choice without tools"
    if (tools := body.get("tools")) is not None:
        if not tools:
            return "tools must not be an empty list"
        for tool in tools:
            if problem := _tool_problem(tool["function"]):
                return problem
    return _messages_problem(body["messages"])


def _tool_problem(function: Body) -> str | None:
    if not NAME.fullmatch(function["name"]):
        return f"bad tool name {function['name']!r}"
    for keyword in ("$ref", "$defs", "const"):
        if f'"{keyword}":' in json.dumps(function["parameters"]):
            return f"unsupported keyword in parameters: {keyword}"
    return None


def _messages_problem(messages: Sequence[Body]) -> str | None:
    open_calls: list[str] = []
    previous = ""
    for position, message in enumerate(messages):
        where, role, content = f"messages[{position}]", message["role"], message.get("content")
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"{where}: no open call {message['tool_call_id']!r}"
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            return f"{where}: calls {open_calls} have no result"
        elif role == "system" and position:
            return f"{where}: a system message that is not the first"
        elif role == previous:
            return f"{where}: two {role} messages in a row"
        if role == "assistant":
            open_calls = [call["id"] for call in message.get("tool_calls", ())]
            if problem := _assistant_problem(message):
                return f"{where}: {problem}"
        elif not content or (isinstance(content, str) and not content.strip()):
            return f"{where}: empty content"
        previous = role
    return f"calls {open_calls} have no result" if open_calls else None


def _assistant_problem(message: Body) -> str | None:
    calls = message.get("tool_calls")
    if calls == [] or (not message.get("content") and not calls):
        return "empty assistant message"
    for call in calls or ():
        if not NAME.fullmatch(call["function"]["name"]):
            return f"bad name {call['function']['name']!r}"
        if not isinstance(json.loads(call["function"]["arguments"]), dict):
            return "arguments are no JSON object"
    ids = [call["id"] for call in calls or ()]
    return "call ids are not unique" if len(set(ids)) < len(ids) else None


def chunk(delta: Mapping[str, object], finish: str | None = None) -> bytes:
    """One chunk with one choice."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return event({"id": "c", "object": "chat.completion.chunk", "choices": [choice]})


def counts(usage: Usage) -> bytes:
    """The chunk that counts tokens; prompt and completion include their details."""
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    written = {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens + usage.reasoning_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }
    return event({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": written})


DONE = event("[DONE]")


def answer(
    *blocks: ContentBlock, finish: FinishReason = "stop", usage: Usage = Usage(input_tokens=1)
) -> Reply:
    """A whole answer, every text in two deltas; a call with an empty id gets none."""
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [piece for index, block in enumerate(blocks) for piece in _pieces(index, block)]
    return Reply(chunks=[*chunks, chunk({}, FINISHES[finish]), counts(usage), DONE])


def _pieces(index: int, block: ContentBlock) -> Iterator[bytes]:
    match block:
        case TextBlock():
            yield from (chunk({"content": half}) for half in _halves(block.text))
        case ThinkingBlock():
            yield from (chunk({"reasoning_content": half}) for half in _halves(block.text))
        case ToolCallBlock():
            first, second = _halves(block.arguments)
            begun = {"id": block.id} if block.id else {}
            named = {"name": block.name, "arguments": first}
            yield chunk({"tool_calls": [{"index": index, **begun, "function": named}]})
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
        case _:
            raise AssertionError(block)


def _halves(text: str) -> tuple[str, str]:
    return text[: len(text) // 2], text[len(text) // 2 :]


def begun(text: str) -> list[bytes]:
    """The chunks of an answer that has begun with *text* and is not over."""
    return [chunk({"role": "assistant", "content": ""}), chunk({"content": text})]


def failed(message: str) -> bytes:
    """An overload in the middle of a stream."""
    return event({"error": {"message": message, "type": "server_error", "code": 503}})


def results(body: Body) -> list[tuple[str, str]]:
    """The results of calls that a request carries: id and text."""
    found: list[dict[str, Any]] = [m for m in body["messages"] if m["role"] == "tool"]
    return [(message["tool_call_id"], message["content"]) for message in found]


def arguments(body: Body) -> list[object]:
    """The arguments of the calls that a request carries."""
    return [
        json.loads(call["function"]["arguments"])
        for message in body["messages"]
        for call in message.get("tool_calls", ())
    ]
