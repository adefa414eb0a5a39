"""JSON-RPC 2.0 over two streams, one message a line; reading and writing never wait for each other.

What is no message of ours is survived: noise is kept as a diagnostic, what nobody knows is ignored
or refused, answers to questions nobody asked are dropped. Next: `_agent.py`, which connects one to
a process.
"""

import json
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final, Protocol, TypeAlias, cast, final

import trio

from dsh.subagent_acp._errors import AcpConnectionError, AcpError, AcpLineError, AcpReplyError
from dsh.subagent_acp._lines import LineBuffer

__all__ = ["Connection", "Peer", "RequestId"]

RequestId: TypeAlias = str | int | float | None
"""Chosen by whoever asks, and echoed as it came."""

_UNREAD: Final = 1_000
"""How many messages may wait for an agent that does not read."""
_NOISE: Final = 20
_NOISE_SHOWN: Final = 200
_METHOD_NOT_FOUND: Final = -32601


class Peer(Protocol):
    """Who is told what the other side wants. Plain functions, called by the reading task."""

    def on_notification(self, method: str, params: object, /) -> None:
        """Something happened; nobody waits for an answer."""
        ...

    def on_request(self, id: RequestId, method: str, params: object, /) -> bool:
        """Whether *method* is known; then `Connection.answer` is due, now or later."""
        ...


@final
class _Reply:
    __slots__ = ("arrived", "failure", "method", "result")

    def __init__(self, method: str) -> None:
        self.method = method
        self.arrived = trio.Event()
        self.result: object = None
        self.failure: AcpError | None = None


@final
class Connection:
    """One end of a conversation. `read` and `write` are its tasks, to be run by its owner.

    What the other side says reaches a message by way of *repeat* only.
    """

    def __init__(
        self, *, max_line_bytes: int, repeat: Callable[[str], str] = lambda text: text
    ) -> None:
        self.peer: Peer | None = None
        """Hears what the other side wants; without one it is ignored or refused."""
        self.failure: AcpError | None = None
        """Why nothing can be asked any more."""
        self.noise: deque[str] = deque(maxlen=_NOISE)
        """The last lines that were no messages, cut."""
        self._lines = LineBuffer(max_line_bytes)
        self._repeat = repeat
        self._ids = count(1)
        self._replies: dict[int, _Reply] = {}
        self._outgoing, self._unsent = trio.open_memory_channel[bytes](_UNREAD)
        self._closed = False

    async def request(self, method: str, params: Mapping[str, object]) -> object:
        """Ask, and wait for the result.

        Raises:
          AcpReplyError: the other side answered with an error.
          AcpError: the connection failed meanwhile, or before.
        """
        number, reply = next(self._ids), _Reply(method)
        self._replies[number] = reply
        try:
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            if self.failure is not None:
                raise self.failure
            await reply.arrived.wait()
        finally:
            del self._replies[number]
        if reply.failure is not None:
            raise reply.failure
        return reply.result

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Tell, if the other side still listens."""
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def answer(self, id: RequestId, result: Mapping[str, object]) -> None:
        """Answer a request of the other side."""
        self._send({"jsonrpc": "2.0", "id": id, "result": result})

    def refuse(self, id: RequestId, code: int, message: str) -> None:
        """Answer a request of the other side with an error."""
        self._send({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    def fail(self, error: AcpError) -> None:
        """Have all that wait, and all that ask later, get *error*; the first one stands."""
        if self.failure is None:
            self.failure = error
            for reply in self._replies.values():
                reply.failure = reply.failure or error
                reply.arrived.set()

    def close(self) -> None:
        """Say nothing more; `write` ends the stream once it has sent what was said before."""
        self._closed = True
        self._outgoing.close()

    async def read(self, stream: trio.abc.ReceiveStream) -> None:
        """Take in what comes until the stream ends; after a failure only to keep it flowing."""
        async for data in stream:
            if self.failure is None:
                self._take(data)

    async def write(self, stream: trio.abc.SendStream) -> bool:
        """Send what was said, then end the stream; whether the other side took all of it."""
        try:
            async for line in self._unsent:
                await stream.send_all(line)
            return True
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return False
        finally:
            self._closed = True
            await trio.aclose_forcefully(stream)

    def _send(self, message: Mapping[str, object]) -> None:
        if self._closed or self.failure is not None:
            return
        try:
            self._outgoing.send_nowait(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        except trio.WouldBlock:
            self.fail(AcpConnectionError(f"the agent left {_UNREAD} messages unread"))

    def _take(self, data: bytes | bytearray) -> None:
        try:
            lines = self._lines.feed(bytes(data))
        except AcpLineError as exc:
            self.fail(exc)
            return
        for line in lines:
            if line and not line.isspace():
                self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            message: object = json.loads(line) if line.lstrip()[:1] == b"{" else None
        except (ValueError, RecursionError):  # no JSON, no UTF-8, absurd numbers, absurd depth
            message = None
        try:
            taken = isinstance(message, dict) and self._dispatch(cast("dict[str, Any]", message))
        except RecursionError:  # as deep as can be read, too deep for what is made of it
            taken = False
        if not taken:
            self.noise.append(self._repeat(line.decode(errors="replace"))[:_NOISE_SHOWN])

    def _dispatch(self, message: dict[str, Any]) -> bool:
        method = message.get("method")
        if not isinstance(method, str):
            return self._take_reply(message.get("id"), message)
        peer, params = self.peer, message.get("params")
        if "id" not in message:
            if peer is not None:
                peer.on_notification(method, params)
        elif not isinstance(message["id"], str | int | float | None):
            return False
        elif peer is None or not peer.on_request(message["id"], method, params):
            self.refuse(message["id"], _METHOD_NOT_FOUND, f"this client has no method {method}")
        return True

    def _take_reply(self, id: object, message: Mapping[str, Any]) -> bool:
        reply = self._replies.get(id) if type(id) is int else None
        if reply is None or reply.arrived.is_set() or not {"result", "error"} & message.keys():
            return False
        if (error := message.get("error")) is not None:
            reply.failure = _reply_error(reply.method, error, self._repeat)
        else:
            reply.result = message.get("result")
        reply.arrived.set()
        return True


def _reply_error(method: str, error: object, repeat: Callable[[str], str]) -> AcpReplyError:
    fields = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    code, data = fields.get("code"), fields.get("data")
    problem = f"the error {fields.get('message')!s}"
    if data is not None:
        problem += f": {json.dumps(data)}"
    return AcpReplyError(
        method, repeat(problem), reply_code=code if isinstance(code, int) else None
    )
