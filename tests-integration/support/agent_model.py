"""The model behind a real agent: three providers' wires on one port, steered by the prompt.

It obeys the last word in capitals that a prompt holds: ``ANSWER``, ``SHELL`` (run the command that
follows, then answer), or ``STALL`` (say something and never end). Titles and other requests
without such a word get a plain answer, and who asks again for a structured answer gets one.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, TypeAlias

from fake_endpoint import Body, Reply, event

__all__ = ["ANSWER", "serve"]

ANSWER = "The answer is 42."
BEGUN = "I have begun"
_STRUCTURED = 'Here it is:\n```json\n{"answer": "42"}\n```\n'
_NUDGE = "That reply cannot be used"
_ORDER = re.compile(rf"(ANSWER|STALL|SHELL <([^>]*)>|{_NUDGE})")
_SHELL = re.compile(r"bash|shell|exec|terminal", re.IGNORECASE)
_WIDEST = "danger-full-access"
_numbers = count(1)

Call: TypeAlias = tuple[str, dict[str, Any]]


def serve(path: str, headers: Mapping[str, str], body: Body) -> Reply:
    """Answer a request of any of the three wires."""
    wire = next((wires[end] for end in wires if path.partition("?")[0].endswith(end)), None)
    if wire is None:
        return Reply(chunks=[b"{}"], status=404, content_type="application/json")
    order, tools = _order(body), _tools(body)
    if order is not None and order.startswith("SHELL") and tools and not _is_answered(body):
        command = order.removeprefix("SHELL <").removesuffix(">")
        return Reply(chunks=[*wire(body, "", _call(tools, command))])
    if order == _NUDGE:
        return Reply(chunks=[*wire(body, _STRUCTURED, None)])
    if order == "STALL":
        return Reply(chunks=[*wire(body, BEGUN, None)][:-2], end="stall")
    return Reply(chunks=[*wire(body, ANSWER, None)])


def _messages(body: Body) -> list[Any]:
    return body.get("messages") or body.get("input") or []


def _order(body: Body) -> str | None:
    """What the last prompt that orders something orders."""
    said = [json.dumps(each) for each in _messages(body) if each.get("role") == "user"]
    orders = [match.group(0) for text in said for match in _ORDER.finditer(text)]
    return orders[-1] if orders else None


def _is_answered(body: Body) -> bool:
    """Whether the last thing said is a tool's result."""
    last = _messages(body)[-1]
    return (
        last.get("role") == "tool"
        or last.get("type") == "function_call_output"
        or "tool_result" in json.dumps(last)
    )


def _tools(body: Body) -> list[tuple[str, dict[str, Any]]]:
    """Names and parameters of the tools that run commands."""
    found: list[tuple[str, dict[str, Any]]] = []
    for tool in body.get("tools") or ():
        function = tool.get("function", tool)
        name = str(function.get("name", ""))
        schema: dict[str, Any] = function.get("parameters") or function.get("input_schema") or {}
        if _SHELL.search(name) and {"cmd", "command"} & set(schema.get("properties", {})):
            found.append((name, schema))
    return found


def _call(tools: list[tuple[str, dict[str, Any]]], command: str) -> Call:
    name, schema = tools[0]
    arguments: dict[str, Any] = {}
    for key in schema["properties"]:
        if key in ("cmd", "command"):
            words = ["sh", "-c", command]
            arguments[key] = words if schema["properties"][key].get("type") == "array" else command
        elif key == "sandbox_permissions" and _WIDEST in schema["properties"][key].get("enum", ()):
            arguments[key] = _WIDEST  # what has to be asked for
        elif key in schema.get("required", ()) or (
            key == "justification" and _WIDEST in arguments.values()
        ):
            arguments[key] = {"integer": 1, "number": 1, "boolean": False}.get(
                schema["properties"][key].get("type"), "run it"
            )
    return name, arguments


def _responses(body: Body, text: str, call: Call | None) -> Iterator[bytes]:
    number = next(_numbers)

    def said(type: str, **fields: Any) -> bytes:
        return event({"type": type, **fields}, name=type)

    yield said("response.created", response={"id": f"r{number}"})
    if call is None:
        item: dict[str, Any] = {"type": "message", "id": f"m{number}", "role": "assistant"}
        yield said("response.output_item.added", output_index=0, item=item | {"content": []})
        delta = {"item_id": f"m{number}", "output_index": 0, "content_index": 0, "delta": text}
        yield said("response.output_text.delta", **delta)
        item["content"] = [{"type": "output_text", "text": text, "annotations": []}]
    else:
        item = {"type": "function_call", "id": f"f{number}", "call_id": f"c{number}"}
        item |= {"name": call[0], "arguments": json.dumps(call[1])}
    yield said("response.output_item.done", output_index=0, item=item)
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    yield said("response.completed", response={"id": f"r{number}", "usage": usage})


def _completions(body: Body, text: str, call: Call | None) -> Iterator[bytes]:
    number = next(_numbers)

    def chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": f"r{number}", "object": "chat.completion.chunk", "model": "fake-1"}
        return event({**head, "created": 1, "choices": [choice], **fields})

    yield chunk({"role": "assistant", "content": text})
    if call is not None:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        calls = [{"index": 0, "id": f"c{number}", "type": "function", "function": function}]
        yield chunk({"tool_calls": calls})
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield chunk({}, "stop" if call is None else "tool_calls", usage=usage)
    yield event("[DONE]")


def _anthropic(body: Body, text: str, call: Call | None) -> Iterator[bytes]:
    number = next(_numbers)

    def said(type: str, **fields: Any) -> bytes:
        return event({"type": type, **fields}, name=type)

    message = {"id": f"m{number}", "type": "message", "role": "assistant", "model": "fake-1"}
    usage = {"input_tokens": 10, "output_tokens": 1}
    yield said("message_start", message={**message, "content": [], "usage": usage})
    if call is None:
        yield said("content_block_start", index=0, content_block={"type": "text", "text": ""})
        yield said("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
    else:
        block: dict[str, Any] = {
            "type": "tool_use",
            "id": f"c{number}",
            "name": call[0],
            "input": {},
        }
        yield said("content_block_start", index=0, content_block=block)
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        yield said("content_block_delta", index=0, delta=delta)
    yield said("content_block_stop", index=0)
    reason = "end_turn" if call is None else "tool_use"
    yield said("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 5})
    yield said("message_stop")


wires = {"/responses": _responses, "/chat/completions": _completions, "/messages": _anthropic}
