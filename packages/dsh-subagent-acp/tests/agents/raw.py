"""An agent in nothing but the standard library: starts in a moment, and can be as bad as it gets.

Its only argument is JSON with what to do (see ``DEFAULTS``). Everything it hears is appended to
``log``, so that a test can say what the client sent.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

DEFAULTS: dict[str, Any] = {
    "log": None,  # a file for every message heard
    "ready": None,  # a named pipe told once a prompt is being worked on
    "version": 1,  # the protocol version answered
    "images": False,
    "options": None,  # the session's config options
    "silent": [],  # methods never answered
    "errors": {},  # methods answered with an error
    "before": [],  # raw texts written to stdout before anything else
    "complaint": "",  # written to stderr at the beginning
    "complain_of": None,  # a variable whose value is written to stderr as well
    "exit": None,  # exit at once with that status
    "crash": {},  # method -> exit status
    "ignore_cancel": False,
    "ignore_eof": False,
    "ignore_term": False,
    "term_marker": None,  # a file made on SIGTERM
    "eof_marker": None,  # a file made on EOF, after eof_delay seconds
    "eof_delay": 0,
    "helper": None,  # shell words of a process in the same group
    "escapee": None,  # shell words of a process in a session of its own
    "pids": None,  # a file for the pids of this and of all it has started
    "steps": [{"text": "done"}],  # what a turn consists of, a list of these for each prompt
    "hold_stdin": 0,  # bytes written to stdout, unread by us, before a prompt is read
}

script: dict[str, Any] = DEFAULTS | json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}")
numbers = count(1000)
turns = 0


def write(text: str | bytes) -> None:
    sys.stdout.buffer.write(
        text if isinstance(text, bytes) else text.encode(errors="surrogatepass")
    )
    sys.stdout.buffer.flush()


def send(**message: Any) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def update(kind: str, /, **fields: Any) -> None:
    send(
        method="session/update",
        params={"sessionId": "s1", "update": {"sessionUpdate": kind, **fields}},
    )


def mark(path: str | None, text: str = "") -> None:
    if path and os.path.exists(path):  # a pipe that a test listens to
        end = os.open(path, os.O_WRONLY)
        os.write(end, text.encode() or b".")
        os.close(end)
    elif path:
        with open(path + ".part", "w") as file:
            file.write(text)
        os.rename(path + ".part", path)


def hear() -> dict[str, Any] | None:
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    if script["log"]:
        with open(script["log"], "ab") as file:
            file.write(line)
    return json.loads(line)


def flood(times: int) -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x"}}
    line = json.dumps(
        {
            "jsonrpc": "2.0",
            "method": "session/update",
            "params": {"sessionId": "s1", "update": chunk},
        }
    )
    write((line + "\n") * times)


def ask(request: dict[str, Any]) -> dict[str, Any]:
    number = next(numbers)
    send(
        id=number,
        method=request.get("method", "session/request_permission"),
        params=request["params"],
    )
    while (message := hear()) is not None:
        if message.get("id") == number and "method" not in message:
            return message
        if message.get("method") == "session/cancel":
            cancelled.append(True)
    sys.exit(0)


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


cancelled: list[bool] = []


def play(step: dict[str, Any], prompt_id: object) -> bool:
    """One step of a turn; whether the turn is answered by it."""
    for key, value in step.items():
        if key == "text":
            update("agent_message_chunk", content={"type": "text", "text": value})
        elif key == "thought":
            update("agent_thought_chunk", content={"type": "text", "text": value})
        elif key == "update":
            update(value.pop("kind"), **value)
        elif key == "call":
            update(
                "tool_call",
                toolCallId=value,
                title=f"tool {value}",
                kind="execute",
                status="pending",
                rawInput={"a": 1},
            )
        elif key == "called":
            content = [{"type": "content", "content": {"type": "text", "text": "output"}}]
            update("tool_call_update", toolCallId=value, status="completed", content=content)
        elif key == "failed":
            update("tool_call_update", toolCallId=value, status="failed")
        elif key == "raw":
            write(value)
        elif key == "bytes":
            write(bytes.fromhex(value))
        elif key == "big":
            update("agent_message_chunk", content={"type": "text", "text": "x" * value})
        elif key == "flood":
            flood(value)
        elif key == "repeat":
            write(value[0] * value[1])
        elif key == "endless":
            while True:
                write("x" * 65536)
        elif key == "stderr":
            sys.stderr.write("e" * value)
            sys.stderr.flush()
        elif key == "ask":
            reply = ask(value)
            update(
                "agent_message_chunk",
                content={
                    "type": "text",
                    "text": json.dumps(reply.get("result", reply.get("error"))),
                },
            )
        elif key == "env":
            found = {name: os.environ.get(name) for name in value} if value else dict(os.environ)
            update("agent_message_chunk", content={"type": "text", "text": json.dumps(found)})
        elif key == "files":
            found = [number for number in range(value) if is_open(number)]
            update("agent_message_chunk", content={"type": "text", "text": json.dumps(found)})
        elif key == "cwd":
            update("agent_message_chunk", content={"type": "text", "text": os.getcwd()})
        elif key == "exit":
            sys.stdout.flush()
            os._exit(value)
        elif key == "hang":
            mark(script["ready"])
            wait_for_cancel(prompt_id, step.get("late", 0))
            return True
        elif key == "result":
            send(id=prompt_id, result=value)
            return True
        elif key == "error":
            send(id=prompt_id, error=value)
            return True
    return False


def wait_for_cancel(prompt_id: object, late: int) -> None:
    while (message := hear()) is not None:
        if message.get("method") == "session/cancel" and not script["ignore_cancel"]:
            if "session/cancel" in script["crash"]:
                os._exit(script["crash"]["session/cancel"])
            for _ in range(late):
                update("agent_message_chunk", content={"type": "text", "text": "late"})
            send(id=prompt_id, result={"stopReason": "cancelled"})
            return
    end()


def prompt(message: dict[str, Any]) -> None:
    global turns
    words = "".join(block.get("text", "") for block in message["params"]["prompt"])
    steps = script["steps"]
    if steps and isinstance(steps[0], list):
        steps = steps[min(turns, len(steps) - 1)]
    turns += 1
    behaviour = words.split("\n")[0]
    if behaviour in ("hang", "linger"):
        script["eof_delay"] = 0.2 if behaviour == "linger" else 0
        steps = [{"hang": True}]
    elif behaviour == "fail":
        steps = [{"error": {"code": -32603, "message": "it failed"}}]
    elif behaviour == "answer":
        steps = [{"text": '{"answer": "done"}'}]
    mark(script["ready"])
    for step in steps:
        if play(step, message["id"]):
            return
    send(id=message["id"], result={"stopReason": "end_turn"})


def end() -> None:
    if script["eof_delay"]:
        select.select([], [], [], script["eof_delay"])
    mark(script["eof_marker"])
    while script["ignore_eof"]:
        signal.pause()
    sys.exit(0)


def terminated(*_: object) -> None:
    mark(script["term_marker"])
    if not script["ignore_term"]:
        os._exit(0)


def start_others() -> None:
    pids = [os.getpid()]
    for words, new_session in ((script["helper"], False), (script["escapee"], True)):
        if words:
            process = subprocess.Popen(["sh", "-c", words], start_new_session=new_session)
            pids.append(process.pid)
    mark(script["pids"], json.dumps(pids))


ANSWERS: dict[str, Callable[[], dict[str, Any]]] = {
    "initialize": lambda: {
        "protocolVersion": script["version"],
        "agentCapabilities": {"promptCapabilities": {"image": script["images"]}},
    },
    "session/new": lambda: {"sessionId": "s1", "configOptions": script["options"]},
    "session/set_config_option": lambda: {"configOptions": script["options"] or []},
}

if script["ignore_term"] or script["term_marker"]:
    signal.signal(signal.SIGTERM, terminated)
sys.stderr.write(script["complaint"] + os.environ.get(script["complain_of"] or "", ""))
sys.stderr.flush()
if script["exit"] is not None:
    sys.exit(script["exit"])
for text in script["before"]:
    write(text)
start_others()
while (message := hear()) is not None:
    method = message.get("method")
    if method in script["crash"]:
        os._exit(script["crash"][method])
    if method in script["silent"]:
        mark(script["ready"])
        continue
    if method in script["errors"]:
        send(id=message["id"], error=script["errors"][method])
    elif method == "session/prompt":
        prompt(message)
    elif method in ANSWERS:
        if method == "session/new" and script["hold_stdin"]:
            send(id=message["id"], result=ANSWERS[method]())
            flood(script["hold_stdin"])
            continue
        send(id=message["id"], result=ANSWERS[method]())
end()
