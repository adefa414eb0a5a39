"""What is said to an agent: the messages of the Agent Client Protocol, version 1.

They are made of the models of the ``agent-client-protocol`` package, which takes most of a second
to import: `load` does that in a thread, when the first child is started. Next: `_reading.py`, what
an agent says.
"""

import sys
from collections.abc import Iterable
from importlib import import_module
from typing import Any, Final, TypeAlias

import trio
from pydantic import BaseModel

from dsh.agent import ImageBlock, TextBlock
from dsh.subagent_acp._permission import PermissionOption

__all__ = [
    "VERSION",
    "Carriable",
    "Params",
    "cancel",
    "initialize",
    "load",
    "new_session",
    "permission_reply",
    "prompt",
    "select_option",
]

VERSION: Final = 1
Params: TypeAlias = dict[str, object]
Carriable: TypeAlias = TextBlock | ImageBlock
"""The blocks of a prompt that the protocol knows."""


async def load() -> None:
    """Import the models, without stopping everybody else while the disk is read."""
    if "acp.schema" not in sys.modules:
        await trio.to_thread.run_sync(_import, abandon_on_cancel=True)


def _import() -> None:
    import_module("acp.schema")


def initialize(name: str, version: str) -> Params:
    """Offer nothing but our ears: no files, no terminals (B-ACP-04)."""
    from acp import schema

    info = schema.Implementation(name=name, version=version)
    return _dumped(schema.InitializeRequest(protocol_version=VERSION, client_info=info))


def new_session(cwd: str) -> Params:
    """One session, without further servers."""
    from acp import schema

    return _dumped(schema.NewSessionRequest(cwd=cwd, mcp_servers=[]))


def select_option(session_id: str, option: str, value: str) -> Params:
    """Set a configuration option of the session, such as its model."""
    from acp import schema

    return _dumped(
        schema.SetSessionConfigOptionSelectRequest(
            session_id=session_id, config_id=option, value=value
        )
    )


def prompt(session_id: str, blocks: Iterable[Carriable]) -> Params:
    """One turn's prompt."""
    from acp import schema

    content: list[Any] = [
        schema.TextContentBlock(type="text", text=block.text)
        if isinstance(block, TextBlock)
        else schema.ImageContentBlock(type="image", data=block.data, mime_type=block.media_type)
        for block in blocks
    ]
    return _dumped(schema.PromptRequest(session_id=session_id, prompt=content))


def cancel(session_id: str) -> Params:
    """End the turn that is under way."""
    from acp import schema

    return _dumped(schema.CancelNotification(session_id=session_id))


def permission_reply(option: PermissionOption | None) -> Params:
    """Select *option*, or say that the question was cancelled."""
    from acp import schema

    outcome = (
        schema.DeniedOutcome(outcome="cancelled")
        if option is None
        else schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
    )
    return _dumped(schema.RequestPermissionResponse(outcome=outcome))


def _dumped(message: BaseModel) -> Params:
    return message.model_dump(by_alias=True, exclude_none=True, mode="json")
