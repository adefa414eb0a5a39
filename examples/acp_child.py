"""Delegate to an agent in a process of its own: ``python examples/acp_child.py [PRESET]``.

Without an argument the agent is the few lines below, run by this same file. With the name of a
preset (``codex``, ``opencode``, ...) it is that agent, which has to be installed and logged in.
"""

import sys
from typing import Any, cast

import trio

from dsh.subagent import Progress, SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import (
    AcpConfig,
    AcpProvider,
    Approver,
    PermissionOption,
    PermissionProgress,
    PermissionRequest,
    preset,
)


async def approve(request: PermissionRequest) -> PermissionOption | None:
    """Let it read; everything else is rejected."""
    await trio.lowlevel.checkpoint()
    allowing = [option for option in request.options if option.allows]
    return allowing[0] if request.kind == "read" and allowing else None


def show(event: Progress) -> None:
    told = event.title if isinstance(event, PermissionProgress) else ""
    print(f"  {type(event).__name__} {told}".rstrip())


def configured(known: str | None, approver: Approver) -> AcpConfig:
    if known is not None:
        return preset(known, permission=approver)
    return AcpConfig(command=sys.executable, args=(__file__, "--agent"), permission=approver)


async def main(known: str | None) -> None:
    config = configured(known, approve)
    subagents = SubagentService()
    subagents.register(AcpProvider(config))
    async with ScriptedParent() as parent:  # an agent of your host
        request = SubagentStartRequest(
            prompt="What does this project do?",
            parent=parent,
            cancel_scope=trio.CancelScope(relative_deadline=120),
        )
        async with await subagents.start(config.provider_name, request) as run:
            run.on_progress(show)
            result = await run.result()
    print(f"{result.stop_reason}: {result.text}")


class TinyAgent:
    """The other end, on the protocol's own library and asyncio."""

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> Any:
        from acp import InitializeResponse

        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, **_: Any) -> Any:
        from acp import NewSessionResponse

        return NewSessionResponse(session_id="tiny")

    async def cancel(self, session_id: str, **_: Any) -> None:
        pass

    async def prompt(self, session_id: str, **_: Any) -> Any:
        from acp import PromptResponse, schema, update_agent_message_text

        reading = schema.ToolCallUpdate(tool_call_id="1", title="Read README.md", kind="read")
        options = [schema.PermissionOption(option_id="y", name="Yes", kind="allow_once")]
        reply = await self.client.request_permission(session_id, reading, options)
        text = f"It delegates; reading was {reply.outcome.outcome}."
        await self.client.session_update(session_id, update_agent_message_text(text))
        return PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    if sys.argv[1:] == ["--agent"]:
        import asyncio

        import acp

        asyncio.run(acp.run_agent(cast("acp.Agent", TinyAgent())))
    else:
        trio.run(main, sys.argv[1] if len(sys.argv) > 1 else None)
