from collections.abc import Callable

import pytest

from dsh.agent import (
    ContentError,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TextBlock(text=None), "TextBlock.text is a NoneType, not a str"),  # type: ignore[arg-type]
        (lambda: ThinkingBlock(text="", signature=1), "ThinkingBlock.signature is a int"),  # type: ignore[arg-type]
        (lambda: ImageBlock(media_type="image/png", data=b""), "ImageBlock.data is a bytes"),  # type: ignore[arg-type]
        (lambda: ToolCallBlock(id="c", name="t", arguments={}), "arguments is a dict, not a str"),  # type: ignore[arg-type]
        (lambda: ToolResultBlock(call_id="c", content="x"), "content is a str, not a tuple"),  # type: ignore[arg-type]
        (lambda: Message(role="user", content=[]), "Message.content is a list, not a tuple"),  # type: ignore[arg-type]
        (lambda: Message(role="user", content=("x",)), r"Message.content\[0\] is a str"),  # type: ignore[arg-type]
        (lambda: Message(role="user", content=(), source=None), "Message.source is a NoneType"),  # type: ignore[arg-type]
        (lambda: Usage(input_tokens=1.0), "Usage.input_tokens is a float, not an int"),  # type: ignore[arg-type]
        (lambda: Usage(input_tokens=True), "Usage.input_tokens is a bool, not an int"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_of_the_wrong_type_is_named(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_a_result_holds_only_what_a_tool_may_answer_with() -> None:
    call = ToolCallBlock(id="c", name="t", arguments="")
    with pytest.raises(TypeError, match="not a ImageBlock, TextBlock"):
        ToolResultBlock(call_id="c", content=(call,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Message(role="system", content=()), "Message.role is 'system', not 'user' or"),  # type: ignore[arg-type]
        (lambda: Usage(output_tokens=-1), "Usage.output_tokens is -1; a count cannot be negative"),
    ],
    ids=["role", "count"],
)
def test_an_impossible_value_is_a_content_error(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ContentError, match=message) as caught:
        make()
    assert caught.value.code == "INVALID_CONTENT"


def test_usage_adds_up_count_by_count() -> None:
    one = Usage(input_tokens=1, cache_read_tokens=2)
    two = Usage(output_tokens=3, cache_write_tokens=4, reasoning_tokens=5)
    assert (one + two).total_tokens == 15
    assert one + two == Usage(
        input_tokens=1,
        output_tokens=3,
        cache_read_tokens=2,
        cache_write_tokens=4,
        reasoning_tokens=5,
    )
