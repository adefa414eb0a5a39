"""A conversation as the strictest provider accepts it."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final, final

from dsh.agent._messages import (
    ContentBlock,
    Message,
    ResultBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from dsh.agent._text import valid_text
from dsh.agent.wire._calls import CallNaming

__all__ = ["sendable_messages"]

UNANSWERED: Final = "This call was interrupted before it had a result."
NO_OUTPUT: Final = "(no output)"


def sendable_messages(
    messages: Iterable[Message], *, tool_names: Container[str] = ()
) -> list[Message]:
    """*messages* with roles that alternate, no empty content, and every call answered once.

    Results stand directly after the message that asked for them, in its order. A call that has no
    result (after a cancel, a resume or a fork) is answered with an error; a result nobody asked for
    is dropped. Blank text, and an answer of nothing but thinking, are left out; an empty result
    says so. Ids, names and arguments of calls are what ``CallNaming.sendable`` makes of them, where
    *tool_names* are the tools on offer. Text is valid, see ``dsh.agent.valid_text``.

    What a message becomes depends on it and those before it only, except that it may be merged with
    the next: the sendable form of a prefix is a prefix of the sendable form.
    """
    conversation = _Conversation(CallNaming(tool_names))
    for message in messages:
        conversation.add(message)
    conversation.close_calls()
    return _merged(conversation.sent)


@final
class _Conversation:
    """Collects what can be sent; holds results back until all calls of their message have one."""

    def __init__(self, naming: CallNaming) -> None:
        self.sent: list[Message] = []
        self._naming = naming
        self._open: list[tuple[str, str]] = []
        """The calls that wait for a result: the id in the log, the id on the wire."""
        self._results: dict[str, list[ToolResultBlock]] = {}

    def add(self, message: Message) -> None:
        blocks = [_clean(block) for block in message.content if not _is_blank(block)]
        if message.role == "assistant":
            self.close_calls()
            content = [self._opened(b) if isinstance(b, ToolCallBlock) else b for b in blocks]
            if all(isinstance(block, ThinkingBlock) for block in content):
                return
        else:
            for block in blocks:
                if isinstance(block, ToolResultBlock):
                    self._results.setdefault(block.call_id, []).append(block)
            content = [block for block in blocks if not isinstance(block, ToolResultBlock)]
            if not content:
                return
            self.close_calls()
        self.sent.append(replace(message, content=tuple(content)))

    def _opened(self, call: ToolCallBlock) -> ToolCallBlock:
        sendable = self._naming.sendable(call)
        self._open.append((call.id, sendable.id))
        return sendable

    def close_calls(self) -> None:
        """Answer every open call; the first result of a repeated id goes to its first call."""
        if self._open:
            answers = tuple(self._answer(*ids) for ids in self._open)
            self.sent.append(Message(role="user", content=answers, source="tool"))
        self._open.clear()
        self._results.clear()

    def _answer(self, id: str, wire_id: str) -> ToolResultBlock:
        if found := self._results.get(id):
            return replace(found.pop(0), call_id=wire_id)
        content = (TextBlock(text=UNANSWERED),)
        return ToolResultBlock(call_id=wire_id, content=content, is_error=True)


def _is_blank(block: ContentBlock) -> bool:
    return isinstance(block, TextBlock) and not block.text.strip()


def _clean(block: ContentBlock) -> ContentBlock:
    match block:
        case TextBlock() | ThinkingBlock():
            return block if block.text.isascii() else replace(block, text=valid_text(block.text))
        case ToolCallBlock():
            return replace(block, arguments=valid_text(block.arguments))
        case ToolResultBlock():
            content = tuple(_clean_part(part) for part in block.content if not _is_blank(part))
            return replace(block, content=content or (TextBlock(text=NO_OUTPUT),))
        case _:
            return block


def _clean_part(part: ResultBlock) -> ResultBlock:
    return replace(part, text=valid_text(part.text)) if isinstance(part, TextBlock) else part


def _merged(messages: Sequence[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            content = merged[-1].content + message.content
            merged[-1] = replace(merged[-1], content=content)
        else:
            merged.append(message)
    return merged
