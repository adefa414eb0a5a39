"""Reading an answer that is streamed as server-sent events."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final, Protocol, cast

import trio

from dsh.agent._model import ChatResponse, ModelError
from dsh.agent.wire._events import EventDecoder, ServerSentEvent
from dsh.agent.wire._failure import VendorErrors, body_error

__all__ = ["HttpAnswer", "read_answer"]

DRAIN_SECONDS: Final = 0.5
"""How long a stream may take to end once its last event was read, before it is cut off. An end in
time lets the client use the connection again; providers send it together with the last event."""

MAX_BODY: Final = 64 * 1024
"""How many bytes are read of a body that is no stream."""


class HttpAnswer(Protocol):
    """What is needed of the HTTP client's response, whose body is not read yet."""

    @property
    def headers(self) -> Mapping[str, str]: ...

    def aiter_bytes(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


async def read_answer(
    answer: HttpAnswer,
    handle: Callable[[ServerSentEvent], bool],
    *,
    partial: Callable[[], ChatResponse],
    errors: VendorErrors,
) -> None:
    """Pass each event of *answer* to *handle* until it says that this was the last, then close.

    The body's iterator is always run to its end, so that no half-read generator is left to the
    garbage collector: for at most ``DRAIN_SECONDS`` after the last event, or after *handle* raised.
    What happens to the connection then no longer matters.

    Raises:
      ModelError: the body is no stream but an error, or something else; *partial* says what was
        answered until then.
    """
    chunks = answer.aiter_bytes()
    try:
        kind = answer.headers.get("content-type") or "no content type"
        if "text/event-stream" in kind:
            await _read_events(chunks, handle)
        else:
            raise _no_stream(kind, await _read_start(chunks), partial(), errors.key)
    finally:
        try:
            await _drain(chunks, errors.broken)
        finally:
            await answer.aclose()


async def _read_events(
    chunks: AsyncIterator[bytes], handle: Callable[[ServerSentEvent], bool]
) -> None:
    decoder = EventDecoder()
    async for chunk in chunks:
        if any(handle(event) for event in decoder.feed(chunk)):
            return


async def _read_start(chunks: AsyncIterator[bytes]) -> bytes:
    start = b""
    async for chunk in chunks:
        start += chunk
        if len(start) >= MAX_BODY:
            break
    return start


async def _drain(chunks: AsyncIterator[bytes], broken: type[Exception]) -> None:
    with trio.move_on_after(DRAIN_SECONDS):
        try:
            async for _ in chunks:
                pass
        except broken:
            pass  # an iterator that raised is at its end too, and nobody waits for the rest


def _no_stream(kind: str, start: bytes, partial: ChatResponse, key: str) -> ModelError:
    """What to make of a body where a stream was due: an error with status 200, or nonsense."""
    try:
        body: object = json.loads(start)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and "error" in body:
        return body_error(cast("dict[str, object]", body), key=key, response=partial)
    text = start[:100].decode(errors="replace")
    return ModelError(
        f"the endpoint answered {kind} where a stream was due: {text!r}",
        code="MALFORMED_RESPONSE",
        response=partial,
    )
