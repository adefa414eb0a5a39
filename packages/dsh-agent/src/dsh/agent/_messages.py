"""What agents and models say to each other: content blocks, messages, token counts.

Next: ``_model.py``, who is asked with them.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

__all__ = [
    "ContentBlock",
    "ImageBlock",
    "Message",
    "ResultBlock",
    "Role",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolResultBlock",
    "Usage",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Visible text."""

    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingBlock:
    """A model's reasoning: kept and sent back where an API wants it, never an answer."""

    text: str
    signature: str | None = None
    """The provider's proof that the text is its own; opaque to everyone else."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """A picture: its media type (``image/png``) and its bytes in base64."""

    media_type: str
    data: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBlock:
    """A model's wish to call a tool; ``arguments`` is the JSON text exactly as it came."""

    id: str
    name: str
    arguments: str


ResultBlock: TypeAlias = TextBlock | ImageBlock
"""What a tool may answer with."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultBlock:
    """The answer to the call ``call_id``."""

    call_id: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False


ContentBlock: TypeAlias = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock | ToolResultBlock

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks; system text travels beside the messages, in the request."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of speech. ``source`` is ``"user"``, ``"model"`` or the name of a plugin."""

    role: Role
    content: tuple[ContentBlock, ...]
    source: str = "user"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts that do not overlap, so that their sum is what was paid for."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )

    @property
    def total_tokens(self) -> int:
        """The sum of all five counts."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
            + self.reasoning_tokens
        )
