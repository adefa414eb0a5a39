"""An answer, put together from the chunks of the chat-completions wire."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast, final

from dsh.agent import (
    ChatResponse,
    FinishReason,
    ModelError,
    OnDelta,
    ResponseAssembler,
    ToolCallBlock,
    Usage,
)
from dsh.agent.wire import ServerSentEvent, body_error, quoted_start

__all__ = ["Answer"]

FINISH_REASONS: Final[Mapping[str, FinishReason]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "max_tokens",
    "content_filter": "refusal",
}

# The wire numbers tool calls only; these are the places of all blocks in the answer.
THINKING: Final = 0
TEXT: Final = 1
FIRST_CALL: Final = 2


@final
class Answer:
    """One streamed answer: ``handle`` is fed its events, ``response`` is what they make."""

    def __init__(self, on_delta: OnDelta, *, key: str) -> None:
        self._blocks = ResponseAssembler(on_delta)
        self._key = key
        self._finish: str | None = None
        self._done = False
        self._refused = False
        self._slots: dict[object, int] = {}
        """Where the call stands whose pieces come under an index of the wire."""
        self._ids: dict[int, str] = {}
        self.retries = 0

    def handle(self, event: ServerSentEvent) -> bool:
        """Take in *event*; whether it was the last.

        Raises:
          ModelError: the stream carries an error, or something that is no chunk.
        """
        if event.data.strip() == "[DONE]":
            self._done = True
            return True
        self._take(event.data)
        return False

    def take_whole(self, body: bytes) -> None:
        """Take in the whole answer, which was not streamed.

        Raises:
          ModelError: it is an error, or no answer.
        """
        self._take(body.decode(errors="replace"))

    def _take(self, data: str) -> None:
        try:
            chunk: object = json.loads(data)
        except (ValueError, RecursionError) as exc:
            raise self._malformed(f"{quoted_start(data, self._key)}, which is not JSON") from exc
        if not isinstance(chunk, dict):
            raise self._malformed("JSON that is no object")
        found = cast("dict[str, Any]", chunk)
        if found.get("error"):
            raise body_error(found, key=self._key, response=self.partial())
        try:
            self._chunk(found)
        except (AttributeError, TypeError) as exc:
            raise self._malformed(f"a chunk of another shape: {exc}") from exc

    def _malformed(self, what: str) -> ModelError:
        message = f"the answer carries {what}"
        return ModelError(message, code="MALFORMED_RESPONSE", response=self.partial())

    def _chunk(self, chunk: Mapping[str, Any]) -> None:
        if counts := chunk.get("usage"):
            self._blocks.set_usage(_usage(counts))
        for choice in chunk.get("choices") or ():
            self._finish = _text(choice.get("finish_reason") or "") or self._finish
            if delta := choice.get("delta") or choice.get("message"):
                self._delta(delta)

    def _delta(self, delta: Mapping[str, Any]) -> None:
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            self._blocks.add_thinking(THINKING, _text(thought))
        for field in ("content", "refusal"):
            if text := delta.get(field):
                self._blocks.add_text(TEXT, _text(text))
                self._refused = self._refused or field == "refusal"
        for position, call in enumerate(delta.get("tool_calls") or ()):
            function, call_id = call.get("function") or {}, _text(call.get("id") or "")
            self._blocks.add_call(
                self._slot(call.get("index", position), call_id),
                _text(function.get("arguments") or ""),
                id=call_id or None,
                name=_text(function.get("name") or ""),
            )

    def _slot(self, index: object, id: str) -> int:
        """Where to put a piece of the call *index*.

        Some servers give all calls the same index: there only a new id tells that another begins.
        """
        slot = self._slots.get(index)
        if slot is None or (id and self._ids[slot] not in ("", id)):
            slot = self._slots[index] = FIRST_CALL + len(self._ids)
            self._ids[slot] = id
        return slot

    def partial(self) -> ChatResponse:
        """What was answered up to now."""
        return replace(self._blocks.response(), retries=self.retries)

    def response(self) -> ChatResponse:
        """The whole answer.

        Raises:
          ModelError: the answer ended before it was complete, or there was none.
        """
        response = self.partial()
        if self._finish is None and not self._done:
            text = "the answer ended before it was complete"
            raise ModelError(text, code="STREAM_CLOSED", response=response)
        if self._finish is None and not response.content:
            raise ModelError("the answer is empty", code="EMPTY_RESPONSE", response=response)
        finish = FINISH_REASONS.get(self._finish or "stop", "error")
        if finish == "stop" and any(isinstance(b, ToolCallBlock) for b in response.content):
            finish = "tool_calls"  # some servers say "stop" after calls
        if finish == "stop" and self._refused:
            finish = "refusal"
        if finish != "error":
            return replace(response, finish_reason=finish)
        detail = f"the provider's finish reason is {self._finish!r}"
        return replace(response, finish_reason="error", code="SERVER", detail=detail)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} stands where text is due")
    return value


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Counts that do not overlap: the wire's prompt and completion include what it details."""
    prompt, completion = _count(counts, "prompt_tokens"), _count(counts, "completion_tokens")
    cached = _count(counts, "prompt_tokens_details", "cached_tokens")
    cached = cached or _count(counts, "prompt_cache_hit_tokens")  # DeepSeek's name for it
    written = _count(counts, "prompt_tokens_details", "cache_write_tokens")
    reasoning = _count(counts, "completion_tokens_details", "reasoning_tokens")
    return Usage(
        input_tokens=max(prompt - cached - written, 0),
        output_tokens=max(completion - reasoning, 0),
        cache_read_tokens=cached,
        cache_write_tokens=written,
        reasoning_tokens=reasoning,
    )


def _count(counts: Mapping[str, Any], *path: str) -> int:
    found: Any = counts
    for name in path:
        found = found.get(name) or {}
    if found and not (isinstance(found, int) and found > 0):
        raise TypeError(f"{path[-1]} is {found!r:.80}, not a count")
    return found or 0
