"""An answer, put together from the events of Anthropic's wire."""

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
    Usage,
)
from dsh.agent.wire import ServerSentEvent, body_error, quoted_start
from dsh.llm_anthropic._thinking import redacted, signed

__all__ = ["Answer"]

FINISH_REASONS: Final[Mapping[str, FinishReason]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


@final
class Answer:
    """One streamed answer: ``handle`` is fed its events, ``response`` is what they make."""

    def __init__(self, on_delta: OnDelta, *, model: str, key: str) -> None:
        self._blocks = ResponseAssembler(on_delta)
        self._model = model
        self._key = key
        self._finish: str | None = None
        self._detail: str | None = None
        """Why the provider refused, where it says so."""
        self._counts: dict[str, Any] = {}
        self._signatures: dict[int, str] = {}
        self.retries = 0

    def handle(self, event: ServerSentEvent) -> bool:
        """Take in *event*; whether it was the last.

        Raises:
          ModelError: the stream carries an error, or something that is no event of the wire.
        """
        try:
            data: object = json.loads(event.data)
        except (ValueError, RecursionError) as exc:
            start = quoted_start(event.data, self._key)
            raise self._malformed(f"{start}, which is not JSON") from exc
        if not isinstance(data, dict):
            raise self._malformed("JSON that is no object")
        found = cast("dict[str, Any]", data)
        if found.get("type") == "error":
            raise body_error(found, key=self._key, response=self.partial())
        try:
            return self._event(found)
        except (AttributeError, KeyError, TypeError) as exc:
            raise self._malformed(f"an event of another shape: {exc!r}") from exc

    def _malformed(self, what: str) -> ModelError:
        message = f"the stream carries {what}"
        return ModelError(message, code="MALFORMED_RESPONSE", response=self.partial())

    def _event(self, data: Mapping[str, Any]) -> bool:
        match _text(data["type"]):
            case "message_start":
                self._count(data["message"]["usage"])
            case "content_block_start":
                self._begin(_index(data), data["content_block"])
            case "content_block_delta":
                self._delta(_index(data), data["delta"])
            case "content_block_stop":
                self._blocks.end_block(_index(data))
            case "message_delta":
                self._stop(data["delta"])
                self._count(data.get("usage") or {})
            case "message_stop":
                return True
            case _:
                pass  # pings, and whatever the API comes to say besides
        return False

    def _stop(self, delta: Mapping[str, Any]) -> None:
        self._finish = _text(delta.get("stop_reason") or "") or self._finish
        details: Any = delta.get("stop_details") or {}
        if explanation := details.get("explanation"):
            self._detail = _text(explanation)

    def _count(self, counts: Mapping[str, Any]) -> None:
        """Take in counts, which are totals: a later one replaces an earlier one."""
        self._counts |= {name: count for name, count in counts.items() if count is not None}
        self._blocks.set_usage(_usage(self._counts))

    def _begin(self, index: int, block: Mapping[str, Any]) -> None:
        match block["type"]:
            case "tool_use":
                given = block.get("input")
                arguments = json.dumps(given) if given else ""
                call_id, name = _text(block.get("id") or ""), _text(block["name"])
                self._blocks.add_call(index, arguments, id=call_id or None, name=name)
            case "redacted_thinking":
                signature = redacted(self._model, _text(block["data"]))
                self._blocks.add_thinking(index, signature=signature)
            case _:
                pass  # text and thinking come in deltas

    def _delta(self, index: int, delta: Mapping[str, Any]) -> None:
        match delta["type"]:
            case "text_delta":
                self._blocks.add_text(index, _text(delta["text"]))
            case "thinking_delta":
                self._blocks.add_thinking(index, _text(delta["thinking"]))
            case "signature_delta":
                proof = self._signatures.get(index, "") + _text(delta["signature"])
                self._signatures[index] = proof
                self._blocks.add_thinking(index, signature=signed(self._model, proof))
            case "input_json_delta":
                self._blocks.add_call(index, _text(delta["partial_json"]))
            case _:
                pass  # citations, of which nothing is kept

    def partial(self) -> ChatResponse:
        """What was answered up to now."""
        return replace(self._blocks.response(), retries=self.retries)

    def response(self) -> ChatResponse:
        """The whole answer.

        Raises:
          ModelError: the stream ended before the answer did.
        """
        response = self.partial()
        if self._finish is None:
            text = "the stream ended before the answer did"
            raise ModelError(text, code="STREAM_CLOSED", response=response)
        finish = FINISH_REASONS.get(self._finish)
        if finish is not None:
            return replace(response, finish_reason=finish, detail=self._detail)
        detail = f"the provider's finish reason is {self._finish!r}"
        return replace(response, finish_reason="error", code="SERVER", detail=detail)


def _index(data: Mapping[str, Any]) -> int:
    index = data["index"]
    if not isinstance(index, int):
        raise TypeError(f"the index of a block is a {type(index).__name__}")
    return index


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} stands where text is due")
    return value


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Counts that do not overlap: of the wire's, output includes reasoning, nothing else does."""
    reasoning = _total(counts, "output_tokens_details", "thinking_tokens")
    return Usage(
        input_tokens=_total(counts, "input_tokens"),
        output_tokens=max(_total(counts, "output_tokens") - reasoning, 0),
        cache_read_tokens=_total(counts, "cache_read_input_tokens"),
        cache_write_tokens=_total(counts, "cache_creation_input_tokens"),
        reasoning_tokens=reasoning,
    )


def _total(counts: Mapping[str, Any], *path: str) -> int:
    found: Any = counts
    for name in path:
        found = found.get(name) or {}
    if found and not (isinstance(found, int) and found > 0):
        raise TypeError(f"{path[-1]} is {found!r:.80}, not a count")
    return found or 0
