"""The final result of a tool call: checked whole before anyone sees it."""

from typing import Final

from dsh.agent._failure import failed
from dsh.agent._messages import ImageBlock, ResultBlock, TextBlock
from dsh.agent._text import valid_text
from dsh.agent._tool import ToolResult

__all__ = ["INVALID_RESULT", "final_result"]

INVALID_RESULT: Final = "INVALID_RESULT"

_BLOCKS: Final = frozenset({TextBlock, ImageBlock})


def final_result(result: object) -> ToolResult:
    """*result* as it goes into the log, or an error result where it could not (B-TOOL-30).

    Lone surrogates, which no UTF-8 text can carry, become U+FFFD (B229).
    """
    if type(result) is not ToolResult:
        return _invalid(f"a {type(result).__name__} instead of a ToolResult")
    content: object = result.content
    if type(content) is not tuple:
        return _invalid(f"content that is a {type(content).__name__} instead of a tuple of blocks")
    if type(result.is_error) is not bool:
        return _invalid(f"is_error that is a {type(result.is_error).__name__}")
    for text in (result.code, result.context):
        if not (text is None or type(text) is str):
            return _invalid(f"a code or context that is a {type(text).__name__}")
    for block in result.content:
        if type(block) not in _BLOCKS:
            return _invalid(f"a {type(block).__name__} where TextBlock and ImageBlock may be")
    if all(map(_is_encodable, _texts(result))):
        return result
    return ToolResult(
        content=tuple(map(_encodable_block, result.content)),
        is_error=result.is_error,
        code=result.code,
        context=valid_text(result.context) if result.context is not None else None,
    )


def _invalid(problem: str) -> ToolResult:
    return failed(f"the tool answered with {problem}", code=INVALID_RESULT)


def _texts(result: ToolResult) -> tuple[str, ...]:
    shown = (block.text if isinstance(block, TextBlock) else block.data for block in result.content)
    return (*shown, result.context or "")


def _is_encodable(text: str) -> bool:
    return valid_text(text) is text


def _encodable_block(block: ResultBlock) -> ResultBlock:
    return TextBlock(text=valid_text(block.text)) if isinstance(block, TextBlock) else block
