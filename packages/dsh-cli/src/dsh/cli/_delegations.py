"""A run as a tree: who delegated what to whom, what it does, what came of it.

Made by ``_watch`` while a run goes on and by ``_history`` from its logs; drawn by ``_drawing``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, final

from dsh.agent import ContentBlock, TextBlock, Usage

__all__ = ["Delegation", "as_json", "label_of", "text_of", "walk"]

_LONGEST_LABEL: Final = 60


@final
@dataclass(slots=True, kw_only=True)
class Delegation:
    """One agent of a run. Times are seconds on the clock of whoever made the tree."""

    id: str
    provider: str
    """What it runs on; empty where nobody wrote it down."""
    label: str
    began: float
    ended: float | None = None
    doing: str = "thinking"
    """What it is at, while it has not ended."""
    stop_reason: str | None = None
    """Why it ended; ``None`` as long as it has not."""
    detail: str | None = None
    text: str = ""
    """What it returned."""
    usage: Usage = Usage()
    """Tokens, those of its children included; so are the counts that follow."""
    model_requests: int = 0
    tool_calls: int = 0
    children: list["Delegation"] = field(default_factory=list["Delegation"])

    @property
    def state(self) -> str:
        """Why it ended, or what it is at."""
        return self.stop_reason or self.doing

    def seconds(self, now: float) -> float:
        """How long it has been at work, at the time *now* if it still is."""
        return (now if self.ended is None else self.ended) - self.began


def walk(roots: Sequence[Delegation]) -> Iterator[Delegation]:
    """Yield every delegation below *roots*, parents first."""
    waiting = list(reversed(roots))
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(found.children))


def label_of(prompt: str) -> str:
    """Return what a prompt is called where nobody gave it a name: the beginning of it."""
    words = " ".join(prompt.split())
    return words if len(words) <= _LONGEST_LABEL else f"{words[: _LONGEST_LABEL - 1]}…"


def text_of(content: Iterable[ContentBlock]) -> str:
    """Return the visible text of *content*."""
    return "".join(block.text for block in content if isinstance(block, TextBlock))


def as_json(found: Delegation, now: float) -> dict[str, Any]:
    """Return *found* and its children as JSON data."""
    return {
        "id": found.id,
        "provider": found.provider,
        "label": found.label,
        "stop_reason": found.stop_reason,
        "detail": found.detail,
        "text": found.text,
        "seconds": round(found.seconds(now), 3),
        "usage": asdict(found.usage),
        "model_requests": found.model_requests,
        "tool_calls": found.tool_calls,
        "children": [as_json(child, now) for child in found.children],
    }
