"""What of a log a model sees: each event's message, if it has one."""

from typing import Final

from dsh.agent._events import (
    AssistantMessage,
    ContextMessage,
    SessionEvent,
    SteeringMessage,
    ToolResulted,
    UserMessage,
)
from dsh.agent._messages import ContentBlock, Message, TextBlock

__all__ = ["derived_message"]

_SPEAKING: Final = frozenset(
    {UserMessage, AssistantMessage, ToolResulted, ContextMessage, SteeringMessage}
)


def derived_message(event: SessionEvent) -> Message | None:
    """The message *event* adds to the conversation, or ``None``.

    A tool's result is a user message of its own. What plugins add and what steers a running turn
    is marked with its source, so that a model can tell it from its user (B-SES-11, B-SES-12).
    """
    if type(event) not in _SPEAKING:
        return None
    match event:
        case UserMessage():
            return event.message
        case AssistantMessage():
            return event.message if event.message.content else None
        case ToolResulted():
            return Message(role="user", content=(event.result,), source="tool")
        case ContextMessage():
            return _marked("context", event.message)
        case _:
            assert isinstance(event, SteeringMessage), "what speaks, and is none of those above"
            return _marked("steering", event.message)


def _marked(tag: str, message: Message) -> Message:
    from html import escape  # costs 2 ms, and few conversations are added to

    opening, closing = f'<{tag} source="{escape(message.source)}">', f"</{tag}>"
    content: tuple[ContentBlock, ...]
    match message.content:
        case (TextBlock(text=text),):
            content = (TextBlock(text=f"{opening}\n{text}\n{closing}"),)
        case blocks:
            content = (TextBlock(text=opening), *blocks, TextBlock(text=closing))
    return Message(role=message.role, content=content, source=message.source)
