"""What waits for an agent: prompts, steering, context."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from dsh.agent import ContentBlock, ImageBlock, Message, TextBlock, ToolChoice
from dsh.agent_loop._repair import valid_block

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
    """Three queues; the lists are the agent's and its open turn's to read and empty."""

    __slots__ = ("context", "prompts", "steering")

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.steering: list[Message] = []
        self.context: list[Message] = []

    def take_prompts(self) -> list[Prompt]:
        """All that is queued, as the batch of one turn (B-AGT-23)."""
        batch, self.prompts = self.prompts, []
        return batch

    def put_back(self, prompts: Sequence[Prompt]) -> None:
        """Queue *prompts* before everything else."""
        self.prompts[:0] = prompts

    def requeue_steering(self) -> None:
        """Let undelivered steering open the next turn instead (B-AGT-40)."""
        self.put_back([Prompt(message) for message in self.steering])
        self.steering.clear()

    def forget(self) -> None:
        """Drop what asks for an answer; context is not asking."""
        self.prompts.clear()
        self.steering.clear()


def user_message(content: str | Sequence[ContentBlock], source: str) -> Message:
    """*content* as a message, snapshotted.

    Raises:
      TypeError: it is neither text nor blocks of text and images (B-AGT-18).
    """
    if isinstance(content, str):
        blocks: tuple[ContentBlock, ...] = (TextBlock(text=content),)
    else:
        blocks = tuple(content)
        for block in blocks:
            if not isinstance(block, _SAYABLE):
                raise TypeError(
                    f"a message is text, or blocks of text and images, not {type(block).__name__}"
                )
        if not blocks:
            raise TypeError("a message of blocks needs at least one")
    return Message(role="user", content=tuple(map(valid_block, blocks)), source=source)
