"""What waits for an agent: prompts, steering, context."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast, final

from dsh.agent import ContentBlock, ImageBlock, Message, TextBlock, ToolChoice
from dsh.agent_loop._repair import valid_blocks

__all__ = ["Inbox", "Prompt", "user_message"]

_SAYABLE: Final = (TextBlock, ImageBlock)


@final
@dataclass(frozen=True, slots=True)
class Prompt:
    """A message that opens a turn, and what tools its first request must use."""

    message: Message
    tool_choice: ToolChoice = "auto"


@final
class Inbox:
    """Three queues: tuples, as most agents have most of them empty most of the time."""

    __slots__ = ("context", "prompts", "steering")

    def __init__(self) -> None:
        self.prompts: tuple[Prompt, ...] = ()
        self.steering: tuple[Message, ...] = ()
        self.context: tuple[Message, ...] = ()

    def add_prompt(self, message: Message, tool_choice: ToolChoice = "auto") -> None:
        """Queue what opens the next turn."""
        self.prompts = (*self.prompts, Prompt(message, tool_choice))

    def add_steering(self, message: Message) -> None:
        """Queue what the open turn reads before its next request."""
        self.steering = (*self.steering, message)

    def add_context(self, message: Message) -> None:
        """Queue what goes into the log without asking for an answer."""
        self.context = (*self.context, message)

    def take_prompts(self) -> tuple[Prompt, ...]:
        """All that is queued, as the batch of one turn (B-AGT-23)."""
        batch, self.prompts = self.prompts, ()
        return batch

    def next_steering(self) -> Message:
        """Take the oldest."""
        first, *others = self.steering
        self.steering = tuple(others)
        return first

    def next_context(self) -> Message:
        """Take the oldest."""
        first, *others = self.context
        self.context = tuple(others)
        return first

    def put_back(self, prompts: Iterable[Prompt]) -> None:
        """Queue *prompts* before everything else."""
        self.prompts = (*prompts, *self.prompts)

    def requeue_steering(self) -> None:
        """Let undelivered steering open the next turn instead (B-AGT-40)."""
        if self.steering:
            self.put_back(map(Prompt, self.steering))
            self.steering = ()

    def forget(self) -> None:
        """Drop what asks for an answer; context is not asking."""
        self.prompts = self.steering = ()


def user_message(content: str | Sequence[ContentBlock], source: str) -> Message:
    """*content* as a message, snapshotted.

    Raises:
      TypeError: it is neither text nor blocks of text and images (B-AGT-18).
    """
    if isinstance(content, str):
        blocks: tuple[ContentBlock, ...] = (TextBlock(text=content),)
    else:
        if not isinstance(cast("object", content), Sequence):
            raise TypeError(
                f"a message is text, or blocks of text and images, not {type(content).__name__}"
            )
        blocks = tuple(content)
        for block in blocks:
            if not isinstance(block, _SAYABLE):
                raise TypeError(
                    f"a message is text, or blocks of text and images, not {type(block).__name__}"
                )
        if not blocks:
            raise TypeError("a message of blocks needs at least one")
    return Message(role="user", content=valid_blocks(blocks), source=source)
