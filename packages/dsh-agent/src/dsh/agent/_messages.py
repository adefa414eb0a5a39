"""What agents and models say to each other: content blocks, messages, token counts.

Each checks its own fields when it is made: one of another type is a ``TypeError``.

Next: ``_model.py``, who is asked with them.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, final, get_args

from dsh.agent._errors import AgentError
from dsh.agent._fields import require_count, require_text, require_text_or_none

__all__ = [
    "ContentBlock",
    "ContentError",
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


class ContentError(AgentError):
    """A value of the right type that no message can hold; the message names its field."""

    code = "INVALID_CONTENT"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Visible ``text``."""

    text: str

    def __post_init__(self) -> None:
        require_text(self, "text", self.text)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingBlock:
    """A model's reasoning, ``text``: kept and sent back where an API wants it, never an answer."""

    text: str
    signature: str | None = None
    """The provider's proof that the text is its own; opaque to everyone else."""

    def __post_init__(self) -> None:
        require_text(self, "text", self.text)
        require_text_or_none(self, "signature", self.signature)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock:
    """A picture: its ``media_type`` (``image/png``) and its bytes in base64, ``data``."""

    media_type: str
    data: str

    def __post_init__(self) -> None:
        require_text(self, "media_type", self.media_type)
        require_text(self, "data", self.data)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallBlock:
    """A model's wish to call the tool ``name``; ``arguments`` is the JSON text exactly as it came.

    ``id`` is what the result refers to; providers repeat them from one response to another.
    """

    id: str
    name: str
    arguments: str

    def __post_init__(self) -> None:
        require_text(self, "id", self.id)
        require_text(self, "name", self.name)
        require_text(self, "arguments", self.arguments)


ResultBlock: TypeAlias = TextBlock | ImageBlock
"""What a tool may answer with."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResultBlock:
    """The answer to the call ``call_id``: what the model reads (``content``), and ``is_error``."""

    call_id: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False

    def __post_init__(self) -> None:
        require_text(self, "call_id", self.call_id)
        _require_blocks(self, self.content, _RESULT_BLOCKS)


ContentBlock: TypeAlias = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock | ToolResultBlock
"""What a message is made of."""

Role: TypeAlias = Literal["user", "assistant"]
"""Who speaks; system text travels beside the messages, in the request."""

_RESULT_BLOCKS = frozenset[type](get_args(ResultBlock))
_BLOCKS = frozenset[type](get_args(ContentBlock))


def _require_blocks(owner: object, content: object, allowed: frozenset[type]) -> None:
    if not isinstance(content, tuple):
        kind = type(content).__name__
        raise TypeError(f"{type(owner).__name__}.content is a {kind}, not a tuple of blocks")
    for index, block in enumerate(cast(tuple[object, ...], content)):
        if type(block) not in allowed:
            names = ", ".join(sorted(each.__name__ for each in allowed))
            kind = type(block).__name__
            where = f"{type(owner).__name__}.content[{index}]"
            raise TypeError(f"{where} is a {kind}, not one of {names}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of speech: who speaks (``role``) and what (``content``).

    ``source`` is ``"user"``, ``"model"``, ``"tool"`` or the name of a plugin.

    Raises:
      ContentError: the role is neither of the two.
    """

    role: Role
    content: tuple[ContentBlock, ...]
    source: str = "user"

    def __post_init__(self) -> None:
        if self.role not in ("user", "assistant"):
            raise ContentError(f"Message.role is {self.role!r}, not 'user' or 'assistant'")
        _require_blocks(self, self.content, _BLOCKS)
        require_text(self, "source", self.source)

    @property
    def text(self) -> str:
        """What is said in it in words; thoughts, pictures, calls and their results are not."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts that do not overlap, so that their sum is what was paid for.

    ``input_tokens`` are those that went neither into a cache (``cache_write_tokens``) nor came out
    of one (``cache_read_tokens``); ``output_tokens`` are without ``reasoning_tokens``.

    Raises:
      TypeError: a count is no int.
      ContentError: a count is negative.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def __post_init__(self) -> None:
        counts = (
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
        )
        if set(map(type, counts)) == {int} and min(counts) >= 0:
            return
        for name in self.__slots__:  # pragma: no branch - one of them is refused
            count: object = getattr(self, name)
            require_count(self, name, count)
            if cast(int, count) < 0:
                raise ContentError(f"Usage.{name} is {count}; a count cannot be negative")

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
