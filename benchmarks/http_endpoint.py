"""A model on loopback for the HTTP benchmark, in a process of its own so that its CPU is not ours.

``python -m benchmarks.http_endpoint`` prints its port and answers until its input ends. Offered a
tool, it calls it once; else it says something.
"""

import json
from functools import partial
from typing import Any

import h11
import trio

__all__: list[str] = []


def _answer(body: dict[str, Any]) -> bytes:
    if body.get("tools") and body["messages"][-1]["role"] == "user":
        arguments = json.dumps({"description": "d", "prompt": "p"})
        call = {"index": 0, "id": "a", "function": {"name": "subagent", "arguments": arguments}}
        delta, finish = {"tool_calls": [call]}, "tool_calls"
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
            connection.receive_data(await stream.receive_some())
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            head = h11.Response(status_code=200, headers=[("content-type", "text/event-stream")])
            data = _answer(json.loads(body)) + b"data: [DONE]\n\n"
            for part in (head, h11.Data(data=data), h11.EndOfMessage()):
                await stream.send_all(connection.send(part) or b"")
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
