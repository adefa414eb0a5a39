"""An agent on the asyncio side of the protocol's own library: the other end is not ours.

Its only argument is JSON; the switches are those of ``SWITCHES``.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from threading import Event
from typing import Any, cast

from acp import (
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    run_agent,
    start_tool_call,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
)
from acp.interfaces import Client
from acp.schema import PermissionOption, ToolCallUpdate, Usage

SWITCHES: dict[str, Any] = {
    "text": ["hello ", "from the library"],
    "stop_reason": "end_turn",
    "usage": False,
    "thoughts": False,
    "tool": False,
    "ask": [],  # kinds of the options of a permission asked for
    "hang": False,
    "ignore_cancel": False,
    "crash_on": None,  # "prompt" or "cancel"
    "gate": None,  # a named pipe that holds back session/new until written to
    "ready": None,  # a named pipe told once a prompt is being worked on
    "eof_marker": None,  # a file made after the end of the input
    "eof_delay": 0,
    "ignore_eof": False,
    "ignore_term": False,
    "term_marker": None,
}
switches = SWITCHES | json.loads(sys.argv[1])


def tell(pipe: str | None) -> None:
    if pipe:
        end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        os.write(end, b".")
        os.close(end)


def mark(path: str | None) -> None:
    if path:
        Path(path).touch()


class ScriptedAgent:
    def __init__(self) -> None:
        self.client: Client | None = None
        self.cancelled = asyncio.Event()

    def on_connect(self, conn: Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        if switches["gate"]:
            tell(switches["ready"])
            await asyncio.to_thread(Path(switches["gate"]).read_text)
        return NewSessionResponse(session_id="library-1")

    async def cancel(self, session_id: str, **_: Any) -> None:
        if switches["crash_on"] == "cancel":
            os._exit(9)
        if not switches["ignore_cancel"]:
            self.cancelled.set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        client = self.client
        assert client is not None
        if switches["crash_on"] == "prompt":
            os._exit(9)
        tell(switches["ready"])
        if switches["thoughts"]:
            await client.session_update(session_id, update_agent_thought_text("hm"))
        if switches["tool"]:
            call = start_tool_call("call-1", "Run it", kind="execute", raw_input={"cmd": "ls"})
            await client.session_update(session_id, call)
            ended = update_tool_call("call-1", status="completed")
            await client.session_update(session_id, ended)
        if switches["ask"]:
            options = [
                PermissionOption(option_id=f"x-{kind}", name=kind, kind=kind)
                for kind in switches["ask"]
            ]
            call = ToolCallUpdate(tool_call_id="call-2", title="Dangerous")
            reply = await client.request_permission(session_id, call, options)
            outcome = reply.outcome
            chosen = getattr(outcome, "option_id", outcome.outcome)
            await client.session_update(session_id, update_agent_message_text(f"[{chosen}] "))
        for text in switches["text"]:
            await client.session_update(session_id, update_agent_message_text(text))
        if switches["hang"]:
            tell(switches["ready"])
            await self.cancelled.wait()
            return PromptResponse(stop_reason="cancelled")
        usage = Usage(
            total_tokens=15, input_tokens=7, output_tokens=5, cached_read_tokens=2, thought_tokens=1
        )
        return PromptResponse(
            stop_reason=switches["stop_reason"], usage=usage if switches["usage"] else None
        )


def terminated(*_: object) -> None:
    mark(switches["term_marker"])
    if not switches["ignore_term"]:
        os._exit(0)


async def main() -> None:
    if switches["term_marker"] or switches["ignore_term"]:
        signal.signal(signal.SIGTERM, terminated)
    await run_agent(cast("Agent", ScriptedAgent()))
    await asyncio.to_thread(Event().wait, switches["eof_delay"])
    mark(switches["eof_marker"])
    if switches["ignore_eof"]:
        await asyncio.Event().wait()


asyncio.run(main())
