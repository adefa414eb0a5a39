"""A model provider on loopback: real HTTP, real server-sent events, scripted answers and faults.

It refuses what the real APIs refuse, so that a request that passes here is one they would take.
"""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, Literal, TypeAlias

import h11
import trio

Body: TypeAlias = Mapping[str, Any]
Refuse: TypeAlias = "Callable[[str, Mapping[str, str], Body], Reply | None]"
"""Path, headers and body of a request to the refusal it deserves, if it deserves one."""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One HTTP answer. After its chunks it ends, stalls for good, or drops the connection."""

    chunks: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    end: Literal["end", "stall", "drop"] = "end"
    content_type: str = "text/event-stream"
    silent: bool = False
    """Not even a status: what ends it comes at once."""


def refusal(status: int, message: str, **headers: str) -> Reply:
    """An error with the provider's own words."""
    body = json.dumps({"error": {"message": message, "type": "x"}}).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(chunks=[body], status=status, headers=names, content_type="application/json")


def event(data: object, *, name: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


class FakeEndpoint:
    """What was asked (``requests``), and what will be answered (``replies``, in order)."""

    def __init__(self, refuse: Refuse) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.replies: list[Reply] = []
        self.answer: Callable[[Body], Awaitable[Reply]] | None = None
        """Answers in place of the replies where it is set."""
        self.open_requests = 0
        self.asked = trio.Event()
        """Set when a request has arrived, before it is answered."""
        self.stalled = trio.Event()
        """Set when the chunks of an answer are out and it stalls."""
        self.idle = trio.Event()
        """Set whenever no request is open."""
        self.idle.set()
        self.url = ""
        self._refuse = refuse

    async def serve(self, stream: trio.SocketStream) -> None:
        """Answer the requests of one connection."""
        connection = h11.Connection(h11.SERVER)
        try:
            while await self._exchange(connection, stream):
                connection.start_next_cycle()
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.RemoteProtocolError):
            pass  # the client hung up: what a test that cancels a request wants to see
        finally:
            await trio.aclose_forcefully(stream)

    async def _exchange(self, connection: h11.Connection, stream: trio.SocketStream) -> bool:
        request, body = await _receive(connection, stream)
        if request is None:
            return False
        headers = {name.decode(): value.decode() for name, value in request.headers}
        self.requests.append(json.loads(body or b"{}"))
        self.headers.append(headers)
        self.open_requests += 1
        self.idle = trio.Event()
        self.asked.set()
        try:
            refused = self._refuse(request.target.decode(), headers, self.requests[-1])
            reply = refused or await self._next_reply(self.requests[-1])
            return await self._send(connection, stream, reply)
        finally:
            self.open_requests -= 1
            if not self.open_requests:
                self.idle.set()

    async def _next_reply(self, body: Body) -> Reply:
        if self.answer is not None:
            return await self.answer(body)
        if not self.replies:
            return refusal(418, "the fake endpoint has no further answer")
        return self.replies.pop(0)

    async def _send(
        self, connection: h11.Connection, stream: trio.SocketStream, reply: Reply
    ) -> bool:
        async def send(event: h11.Response | h11.Data | h11.EndOfMessage) -> None:
            if data := connection.send(event):
                await stream.send_all(data)

        if not reply.silent:
            headers = [("content-type", reply.content_type), *reply.headers.items()]
            await send(h11.Response(status_code=reply.status, headers=headers))
        for chunk in reply.chunks:
            await send(h11.Data(data=chunk))
        if reply.end == "stall":
            self.stalled.set()
            await stream.receive_some()  # until the client hangs up
            return False
        if reply.end == "drop":
            return False
        await send(h11.EndOfMessage())
        return connection.our_state is h11.DONE


async def _receive(
    connection: h11.Connection, stream: trio.SocketStream
) -> tuple[h11.Request | None, bytes]:
    request: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            return request, body
        else:
            return None, b""


@asynccontextmanager
async def fake_endpoint(refuse: Refuse) -> AsyncGenerator[FakeEndpoint]:
    """Serve on a free port of 127.0.0.1 for as long as the block runs."""
    endpoint = FakeEndpoint(refuse)
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, endpoint.serve, 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        endpoint.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        yield endpoint
        nursery.cancel_scope.cancel("the test is over")


@contextmanager
def endpoint_in_a_thread(refuse: Refuse) -> Generator[FakeEndpoint]:
    """The same, for tests that are not trio's: it is served by a thread of its own."""
    found: SimpleQueue[tuple[FakeEndpoint, trio.lowlevel.TrioToken, trio.Event]] = SimpleQueue()

    async def serve() -> None:
        async with fake_endpoint(refuse) as serving:
            over = trio.Event()
            found.put((serving, trio.lowlevel.current_trio_token(), over))
            await over.wait()

    thread = Thread(target=trio.run, args=(serve,))
    thread.start()
    serving, token, over = found.get()
    try:
        yield serving
    finally:
        token.run_sync_soon(over.set)
        thread.join()
