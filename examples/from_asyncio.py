"""An asyncio program that delegates; trio has a thread, or with `guest` shares asyncio's."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio

from dsh.bridge_asyncio import Mode, open_bridge
from dsh.subagent import SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedProvider, hang, reply


@asynccontextmanager
async def compose(subagents: SubagentService) -> AsyncGenerator[None]:  # runs in trio
    subagents.register(ScriptedProvider(reply("Forty-two."), hang("Well")))
    yield


async def main(mode: Mode) -> None:
    async with open_bridge(compose, mode=mode) as bridge:
        for prompt, seconds in ("What is it?", 60), ("Why?", 0.1):
            limit = trio.CancelScope(relative_deadline=seconds)
            request = SubagentStartRequest(prompt=prompt, parent=bridge.parent, cancel_scope=limit)
            result = await bridge.run("scripted", request)
            print(f"{prompt} {result.text} ({result.stop_reason})")


asyncio.run(main("guest" if "guest" in sys.argv else "thread"))
