"""Reading an answer that is streamed as server-sent events."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, Protocol, cast

import trio

from dsh.agent._model import ChatResponse, ModelError
from dsh.agent.wire._events import EventDecoder, ServerSentEvent
from dsh.agent.wire._failure import VendorErrors, body_error, quoted_start

__all__ = ["HttpAnswer", "read_answer", "read_body"]

DRAIN_SECONDS: Final = 0.5
"""How long a stream may take to end once its last event was read, before it is cut off. An end in
time lets the client use the connection again; providers send it together with the last event."""

MAX_NONSENSE: Final = 64 * 1024
"""How many bytes are read of a body that should be a stream and is not."""

MAX_BODY: Final = 16 * 1024 * 1024
"""How many bytes an answer that is not streamed may have."""


class HttpAnswer(Protocol):
    """What is needed of the HTTP client's response, whose body is not read yet."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Looked up without regard to case."""
        ...

    def aiter_bytes(self) -> AsyncIterator[bytes]:
        """The body as it comes, decoded."""
        ...

    async def aclose(self) -> None:
        """Give the connection back."""
        ...


async def read_answer(
    answer: HttpAnswer,
    handle: Callable[[ServerSentEvent], bool],
    *,
    partial: Callable[[], ChatResponse],
    errors: VendorErrors,
) -> None:
    """Pass each event of *answer* to *handle* until it says that this was the last, then close.

    A connection that breaks raises what the client raises: see ``VendorErrors.translated``.

    Raises:
      ModelError: the body is no stream but an error, or something else; *partial* says what was
        answered until then.
    """
    async with _chunks_of(answer, errors.broken) as chunks:
        kind = answer.headers.get("content-type") or "no content type"
        if "text/event-stream" not in kind:
            start = await _read_start(chunks, MAX_NONSENSE)
            raise _no_stream(kind, start, partial(), errors.key)
        await _read_events(chunks, handle)


async def read_body(answer: HttpAnswer, *, errors: VendorErrors) -> bytes:
    """The body of *answer* where it is not streamed, cut off after 16 MiB; closes *answer*.

    A connection that breaks raises what the client raises: see ``VendorErrors.translated``.
    """
    async with _chunks_of(answer, errors.broken) as chunks:
        return await _read_start(chunks, MAX_BODY)


@asynccontextmanager
async def _chunks_of(
    answer: HttpAnswer, broken: type[Exception]
) -> AsyncGenerator[AsyncIterator[bytes]]:
    """The body's iterator; on every path it is run to its end and the answer closed.

    No half-read generator is left to the garbage collector. The end may take ``DRAIN_SECONDS``;
    what happens to the connection then no longer matters.
    """
    chunks = answer.aiter_bytes()
    try:
        yield chunks
    finally:
        try:
            await _drain(chunks, broken)
        finally:
            await answer.aclose()


async def _read_events(
    chunks: AsyncIterator[bytes], handle: Callable[[ServerSentEvent], bool]
) -> None:
    decoder = EventDecoder()
    async for chunk in chunks:
        if any(handle(event) for event in decoder.feed(chunk)):
            return


async def _read_start(chunks: AsyncIterator[bytes], limit: int) -> bytes:
    start = b""
    async for chunk in chunks:
        start += chunk
        if len(start) >= limit:
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
    text = quoted_start(start.decode(errors="replace"), key)
    return ModelError(
        f"the endpoint answered {kind} where a stream was due: {text}",
        code="MALFORMED_RESPONSE",
        response=partial,
    )
