"""Put a streamed answer together: deltas in, one response out. For model adapters."""

from dataclasses import dataclass
from typing import final

from dsh.agent._messages import ContentBlock, TextBlock, ThinkingBlock, ToolCallBlock, Usage
from dsh.agent._model import ChatResponse, FinishReason, OnDelta, TextDelta, ThinkingDelta

__all__ = ["ResponseAssembler"]


@final
@dataclass(slots=True, eq=False)
class _Block:
    kind: str
    parts: list[str]
    signature: str | None = None
    id: str | None = None
    name: str = ""
    ended: bool = False


@final
class ResponseAssembler:
    """Collects the pieces of one answer, keyed by the index the wire gives each block.

    Text and reasoning are passed on to *on_delta* as they come. A block takes nothing after its
    first end, and the answer nothing after its finish (B-LLM-04, B-LLM-05).
    """

    def __init__(self, on_delta: OnDelta) -> None:
        self._on_delta = on_delta
        self._blocks: dict[int, _Block] = {}
        self._usage = Usage()
        self._finish: FinishReason | None = None

    def add_text(self, index: int, text: str) -> None:
        """More visible text of block *index*."""
        block = self._block(index, "text")
        if block is not None and text:
            block.parts.append(text)
            self._on_delta(TextDelta(text=text))

    def add_thinking(self, index: int, text: str = "", *, signature: str | None = None) -> None:
        """More reasoning of block *index*; the last *signature* given is the block's."""
        block = self._block(index, "thinking")
        if block is None:
            return
        if signature is not None:
            block.signature = signature
        if text:
            block.parts.append(text)
            self._on_delta(ThinkingDelta(text=text))

    def add_call(
        self, index: int, arguments: str = "", *, id: str | None = None, name: str | None = None
    ) -> None:
        """More argument text of the tool call in block *index*; id and name come when they do."""
        block = self._block(index, "call")
        if block is not None:
            block.parts.append(arguments)
            block.id = id or block.id
            block.name = name or block.name

    def _block(self, index: int, kind: str) -> _Block | None:
        """Where to put a piece, or ``None`` if it comes too late."""
        if self._finish is not None:
            return None
        block = self._blocks.setdefault(index, _Block(kind, []))
        return block if block.kind == kind and not block.ended else None

    def end_block(self, index: int) -> None:
        """Block *index* is complete; later pieces of it are ignored."""
        if (block := self._blocks.get(index)) is not None:
            block.ended = True

    def set_usage(self, usage: Usage) -> None:
        """What the request cost; the last one before the finish counts."""
        if self._finish is None:
            self._usage = usage

    def finish(self, reason: FinishReason) -> None:
        """The answer is over; the first reason counts, and nothing after it."""
        self._finish = self._finish or reason

    def response(self) -> ChatResponse:
        """The answer so far, blocks by index; without a finish it counts as stopped."""
        content = tuple(_content(index, self._blocks[index]) for index in sorted(self._blocks))
        return ChatResponse(
            content=content, finish_reason=self._finish or "stop", usage=self._usage
        )


def _content(index: int, block: _Block) -> ContentBlock:
    text = "".join(block.parts)
    match block.kind:
        case "text":
            return TextBlock(text=text)
        case "thinking":
            return ThinkingBlock(text=text, signature=block.signature)
        case _:
            return ToolCallBlock(id=block.id or f"call-{index}", name=block.name, arguments=text)
