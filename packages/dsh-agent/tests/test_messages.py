from collections.abc import Callable

import pytest

from dsh.agent import (
    AssistantMessage,
    ChatResponse,
    ContentError,
    CustomEvent,
    ImageBlock,
    Message,
    PartialMessage,
    RequestHeader,
    StepStarted,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCalled,
    ToolResultBlock,
    ToolSchema,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
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
    with pytest.raises(TypeError, match="not one of ImageBlock, TextBlock"):
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


@pytest.mark.guarantee("B-SES-02")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TurnStarted(turn=True), "TurnStarted.turn is a bool, not an int"),
        (lambda: TurnStarted(turn=1, trigger="x"), "TurnStarted.trigger is 'x', no TurnTrigger"),  # type: ignore[arg-type]
        (lambda: TurnEnded(turn=1, reason="error", code=404), "TurnEnded.code is a int, not a str"),  # type: ignore[arg-type]
        (lambda: StepStarted(turn=1, step=1.0), "StepStarted.step is a float"),  # type: ignore[arg-type]
        (lambda: UserMessage(message="hi"), "UserMessage.message is a str, not a Message"),  # type: ignore[arg-type]
        (lambda: PartialMessage(text=None), "PartialMessage.text is a NoneType"),  # type: ignore[arg-type]
        (lambda: ToolCalled(call=None), "ToolCalled.call is a NoneType, not a ToolCallBlock"),  # type: ignore[arg-type]
        (lambda: RequestHeader(model="m", options=[]), "RequestHeader.options is a list"),  # type: ignore[arg-type]
        (lambda: CustomEvent(kind=1, data=None), "CustomEvent.kind is a int"),  # type: ignore[arg-type]
        (
            lambda: AssistantMessage(
                message=Message(role="assistant", content=()),
                finish_reason="length",  # type: ignore[arg-type]
                usage=Usage(),
            ),
            "AssistantMessage.finish_reason is 'length', no FinishReason",
        ),
        (lambda: ChatResponse(content=(), finish_reason="eos"), "finish_reason is 'eos'; known: "),  # type: ignore[arg-type]
        (lambda: ToolSchema(name="t", description="", parameters=()), "parameters is a tuple"),  # type: ignore[arg-type]
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_log_could_not_read_back_is_refused_where_it_is_made(
    make: Callable[[], object], message: str
) -> None:
    """An event holds nothing but what its fields declare, so every log can be read back."""
    with pytest.raises(TypeError, match=message):
        make()


def test_a_messages_text_is_its_words_alone() -> None:
    said = (
        ThinkingBlock(text="hm"),
        TextBlock(text="Two "),
        ToolCallBlock(id="c", name="count", arguments="{}"),
        TextBlock(text="files."),
    )
    assert Message(role="assistant", content=said).text == "Two files."
    answered = (ToolResultBlock(call_id="c", content=(TextBlock(text="2"),)),)
    assert Message(role="user", content=answered).text == ""
