"""What a model may get wrong, put right the same way every time; pure.

Nothing here may turn into a malformed next request: every call has an id of its own, a name, and
every text is valid UTF-8. What a call asks for is not judged here but answered by the tools.
"""

from collections.abc import Sequence
from dataclasses import replace
from operator import is_
from typing import Final

from dsh.agent import (
    ContentBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    valid_text,
)

__all__ = ["repaired", "valid_block", "valid_blocks"]

_TEXTS: Final = (TextBlock, ThinkingBlock)


def valid_block(block: ContentBlock) -> ContentBlock:
    """*block* with valid text; the same object where there was nothing to do."""
    if isinstance(block, _TEXTS):
        text = valid_text(block.text)
        return block if text is block.text else replace(block, text=text)
    return block


def valid_blocks(blocks: tuple[ContentBlock, ...]) -> tuple[ContentBlock, ...]:
    """*blocks* with valid text; the same tuple where there was nothing to do."""
    valid = tuple(map(valid_block, blocks))
    return blocks if all(map(is_, valid, blocks)) else valid


def repaired(content: Sequence[ContentBlock]) -> tuple[ContentBlock, ...]:
    """A response's blocks as they can be logged, answered and sent back.

    A call without an id gets ``call-<index of its block>`` (B-LLM-05), a repeated id a number, a
    call without a name the name ``unknown``. Results of tools, which no model gives, are dropped.
    """
    taken: set[str] = set()
    blocks: list[ContentBlock] = []
    for index, block in enumerate(content):
        if isinstance(block, ToolCallBlock):
            blocks.append(_repaired_call(block, index, taken))
        elif not isinstance(block, ToolResultBlock):
            blocks.append(valid_block(block))
    return tuple(blocks)


def _repaired_call(call: ToolCallBlock, index: int, taken: set[str]) -> ToolCallBlock:
    call_id = wanted = valid_text(call.id) or f"call-{index}"
    number = 2
    while call_id in taken:
        call_id = f"{wanted}-{number}"
        number += 1
    taken.add(call_id)
    name, arguments = valid_text(call.name) or "unknown", valid_text(call.arguments)
    if call_id is call.id and name is call.name and arguments is call.arguments:
        return call
    return ToolCallBlock(id=call_id, name=name, arguments=arguments)
