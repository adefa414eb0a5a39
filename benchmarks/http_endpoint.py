"""A model on loopback for the HTTP benchmark, in a process of its own so that its CPU is not ours.

``python -m benchmarks.http_endpoint`` prints its port and answers until its input ends. Asked to
"delegate 50", it calls the subagent tool as often, one call in an answer; else it says something.
"""

import json
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any

import h11
import trio

__all__ = ["endpoint"]


@contextmanager
def endpoint() -> Generator[str]:
    """The address of an endpoint that runs for the time of the block."""
    command = [sys.executable, "-m", "benchmarks.http_endpoint"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()  # its sign to end


def _delegations_left(messages: list[dict[str, Any]]) -> int:
    """How often the last user wants the tool called, less how often that was done."""
    done = 0
    for message in reversed(messages):
        if message["role"] == "tool":
            done += 1
        elif message["role"] == "user":
            wanted = re.search(r"delegate (\d+)", json.dumps(message["content"]))
            return int(wanted[1]) - done if wanted else 0
    return 0


def _answer(body: dict[str, Any]) -> bytes:
    if left := _delegations_left(body["messages"]):
        arguments = json.dumps({"description": "d", "prompt": "p"})
        function = {"name": "subagent", "arguments": arguments}
        call = {"index": 0, "id": f"call-{left}", "type": "function", "function": function}
        delta: object = {"tool_calls": [call]}
        finish = "tool_calls"
    else:
        delta, finish = {"content": "Three files."}, "stop"
    usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
    chunks: list[object] = [
        {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"id": "c", "choices": [], "usage": usage},
    ]
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in chunks)


async def _serve(stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER)
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            try:
                connection.receive_data(await stream.receive_some())
            except trio.BrokenResourceError:
                return  # some clients end a connection so
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            head = h11.Response(status_code=200, headers=[("content-type", "text/event-stream")])
            data = _answer(json.loads(body)) + b"data: [DONE]\n\n"
            parts = (head, h11.Data(data=data), h11.EndOfMessage())
            await stream.send_all(b"".join(connection.send(part) or b"" for part in parts))
            connection.start_next_cycle()
            body = b""
        elif isinstance(event, h11.ConnectionClosed):
            return


async def _main() -> None:
    async with trio.open_nursery() as nursery:
        serve = partial(trio.serve_tcp, _serve, 0, host="127.0.0.1")
        listeners = await nursery.start(serve)
        print(listeners[0].socket.getsockname()[1], flush=True)
        await trio.lowlevel.FdStream(0).receive_some()
        nursery.cancel_scope.cancel("the benchmark is over")


if __name__ == "__main__":
    trio.run(_main)
