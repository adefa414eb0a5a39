"""One agent's conversation, for a person to read."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.text import Text

from dsh.agent import (
    AssistantMessage,
    ContentBlock,
    ContextMessage,
    ImageBlock,
    Message,
    PartialMessage,
    PromptBlocked,
    SessionEvent,
    SteeringMessage,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResulted,
    TurnEnded,
    UserMessage,
)
from dsh.cli._logs import Log
from dsh.cli._printable import printable

__all__ = ["Turn", "print_conversation", "turns"]

Turn = tuple[str, str]
"""Who says it, and what."""

_STYLES: Final = {"user": "bold cyan", "assistant": "bold green", "end": "bold"}


def print_conversation(log: Log, console: Console) -> None:
    """Print what was said in *log*; what was inherited is dimmed."""
    inherited = log.header.seed_length
    for seq, event in enumerate(log.events):
        for who, text in turns(event):
            style = "dim" if seq < inherited else _STYLES.get(who, "bold yellow")
            console.print(Text.assemble((f"{who}: ", style), printable(text)), soft_wrap=True)


def turns(event: SessionEvent) -> Iterator[Turn]:
    """Yield what *event* adds to the conversation, if anything."""
    match event:
        case UserMessage() | ContextMessage() | SteeringMessage():
            yield from _said(event.message.source or "user", event.message)
        case AssistantMessage():
            yield from _said("assistant", event.message)
        case PartialMessage():
            yield "assistant (cut off)", event.text
        case PromptBlocked():
            yield "blocked", event.reason
        case ToolResulted():
            text = "".join(map(_text, event.result.content))
            yield "failure" if event.result.is_error else "result", text
        case TurnEnded():
            detail = "" if event.detail is None else f": {event.detail}"
            yield "end", f"turn {event.turn} {event.reason}{detail}"
        case _:
            pass


def _said(who: str, message: Message) -> Iterator[Turn]:
    for block in message.content:
        if isinstance(block, ToolCallBlock):
            yield "call", f"{block.name} {block.arguments}"
        elif isinstance(block, ThinkingBlock):
            yield "thought", block.text
        elif text := _text(block):
            yield who, text


def _text(block: ContentBlock) -> str:
    if isinstance(block, ImageBlock):
        return "(an image)"
    return block.text if isinstance(block, TextBlock) else ""
