"""What the updates of one turn amount to: its text, its tool calls, the progress they tell. Pure.

The answer of a turn is the text after the last tool call that begins in it. Where no visible text
follows one, or none is told of, it is all of the turn's text: an agent that says its piece before
it tidies up, or tells of no calls, has said it all the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, final

from dsh.subagent import (
    Progress,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
)
from dsh.subagent_acp._errors import AcpOutputError
from dsh.subagent_acp._permission import PermissionRequest

if TYPE_CHECKING:
    from acp.schema import (
        AgentMessageChunk,
        AgentThoughtChunk,
        ContentToolCallContent,
        SessionNotification,
        ToolCallProgress,
        ToolCallStart,
    )

__all__ = ["TurnRecord"]

_ENDED: Final = ("completed", "failed")
_A_CALL: Final = 200
"""What it costs to remember a call, in bytes beside its words."""


@final
class TurnRecord:
    """One turn, as far as its agent tells; at most *max_output_bytes* of it are kept."""

    def __init__(self, *, max_output_bytes: int) -> None:
        self._limit = max_output_bytes
        self._size = 0  # of the text, of the calls, and of the inputs of those that are open
        self._chunks: list[str] = []
        self._after_call = 0
        self._names: dict[str, str] = {}
        self._inputs: dict[str, tuple[object, int]] = {}
        self._over: set[str] = set()

    @property
    def tool_calls(self) -> int:
        """How many calls were told of."""
        return len(self._names)

    @property
    def text(self) -> str:
        """The answer, or what there is of it; see above for the rule."""
        last = "".join(self._chunks[self._after_call :])
        text = last if last.strip() else "".join(self._chunks)
        return text.encode(errors="replace").decode()  # half a surrogate pair is no text

    def known(self, asked: PermissionRequest) -> PermissionRequest:
        """Return *asked* with what was told of its call before, where it says nothing itself."""
        return replace(
            asked,
            title=asked.title or self._names.get(asked.call_id) or "a tool call",
            arguments=self._inputs.get(asked.call_id, (None, 0))[0]
            if asked.arguments is None
            else asked.arguments,
        )

    def take(self, notification: SessionNotification) -> tuple[Progress, ...]:
        """Take in one update and return what it tells.

        Raises:
          AcpOutputError: the turn exceeds its bound; what came before is kept.
        """
        update = notification.update
        if update.session_update == "agent_message_chunk":
            return self._take_text(update)
        if update.session_update == "agent_thought_chunk":
            return _take_thought(update)
        if update.session_update == "tool_call" or update.session_update == "tool_call_update":
            return self._take_call(update)
        return ()  # plans, modes, commands: nothing a parent needs

    def _take_text(self, update: AgentMessageChunk) -> tuple[Progress, ...]:
        if update.content.type != "text" or not (text := update.content.text):
            return ()
        self._keep(_bytes(text))
        self._chunks.append(text)
        return (TextProgress(text=text),)

    def _take_call(self, update: ToolCallStart | ToolCallProgress) -> tuple[Progress, ...]:
        call_id, told = update.tool_call_id, list[Progress]()
        arguments = _json(update.raw_input)
        if call_id not in self._names:
            name = update.title or update.kind or "tool"
            self._keep(_A_CALL + _bytes(call_id) + _bytes(name))
            self._names[call_id] = name
            self._after_call = len(self._chunks)
            told.append(ToolStartedProgress(call_id=call_id, name=name, arguments=arguments))
        if arguments is not None and call_id not in self._over:
            self._forget_input(call_id)
            self._keep(len(arguments))
            self._inputs[call_id] = update.raw_input, len(arguments)
        if update.status in _ENDED and call_id not in self._over:
            self._over.add(call_id)
            self._forget_input(call_id)
            told.append(
                ToolEndedProgress(
                    call_id=call_id,
                    name=self._names[call_id],
                    is_error=update.status == "failed",
                    text=_content(update.content),
                )
            )
        return tuple(told)

    def _keep(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise AcpOutputError(self._limit)

    def _forget_input(self, call_id: str) -> None:
        self._size -= self._inputs.pop(call_id, (None, 0))[1]


def _take_thought(update: AgentThoughtChunk) -> tuple[Progress, ...]:
    if update.content.type != "text" or not update.content.text:
        return ()
    return (ThoughtProgress(text=update.content.text),)


def _bytes(text: str) -> int:
    return len(text.encode(errors="replace"))


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _content(parts: list[Any] | None) -> str:
    contents: list[ContentToolCallContent] = [
        part for part in parts or () if part.type == "content"
    ]
    return "".join(part.content.text for part in contents if part.content.type == "text")
