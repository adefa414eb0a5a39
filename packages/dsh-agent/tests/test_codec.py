import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh.agent import (
    SESSION_FORMAT_VERSION,
    AssistantMessage,
    ContextMessage,
    CustomEvent,
    ImageBlock,
    LogFormatError,
    Message,
    PartialMessage,
    PromptBlocked,
    RequestHeader,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SteeringMessage,
    StepEnded,
    StepStarted,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCalled,
    ToolResultBlock,
    ToolResulted,
    ToolSchema,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
    check_log,
    decode_header,
    decode_log,
    encode_event,
    encode_header,
    interrupted_turn_closers,
)
from dsh.agent._shapes import read_shape
from dsh.agent.testing import completed_turn, interrupted_turn

HEADER = SessionHeader(
    id=SessionId("child"), cwd="/srv", parent_session=SessionId("parent"), created_at=5
)
BIG = 2512292042121000001
USER = Message(role="user", content=(ImageBlock(media_type="image/png", data="AA=="),), source="p")
EVERY_KIND: tuple[SessionEvent, ...] = (
    TurnStarted(turn=1, trigger="injection"),
    ContextMessage(message=USER),
    UserMessage(message=USER),
    PromptBlocked(message=USER, reason="no"),
    RequestHeader(
        model="m",
        system="s",
        tools=(ToolSchema(name="t", description="d", parameters={"type": "object", "x": [-0.0]}),),
        options={"temperature": 0.5},
    ),
    StepStarted(turn=1, step=1),
    PartialMessage(text="half"),
    AssistantMessage(
        message=Message(
            role="assistant",
            content=(
                ThinkingBlock(text="hm", signature="sig"),
                TextBlock(text="so"),
                ToolCallBlock(id="c", name="t", arguments=f'{{"id":{BIG}}}'),
            ),
            source="model",
        ),
        finish_reason="tool_calls",
        usage=Usage(input_tokens=1, reasoning_tokens=2),
    ),
    ToolCalled(call=ToolCallBlock(id="c", name="t", arguments="{not json")),
    ToolResulted(
        result=ToolResultBlock(call_id="c", content=(TextBlock(text="x"),), is_error=True),
        code="FAILED",
    ),
    SteeringMessage(message=USER),
    StepEnded(turn=1, step=1),
    CustomEvent(kind="plugin/x", data={"n": BIG, "z": -0.0, "l": [None, True, 1.0, "a"]}),
    TurnEnded(turn=1, reason="error", detail="why", code="SERVER"),
)


def encoded(*events: SessionEvent) -> bytes:
    lines = [encode_event(seq, event) for seq, event in enumerate(events)]
    return encode_header(HEADER) + b"".join(lines)


def test_every_kind_of_event_comes_back_as_it_was() -> None:
    check_log(EVERY_KIND)
    log = decode_log(encoded(*EVERY_KIND))
    assert (log.header, log.events) == (HEADER, EVERY_KIND)
    assert repr(log.events) == repr(EVERY_KIND)
    assert log.size == len(encoded(*EVERY_KIND))


@pytest.mark.field_case("B056")
def test_big_integers_are_the_same_after_a_reload() -> None:
    before = Session(HEADER)
    for event in EVERY_KIND:
        before.append(event)
    after = Session.resumed(HEADER, decode_log(encoded(*EVERY_KIND)).events)
    assert list(after.messages) == list(before.messages)
    call = after.messages[2].content[2]
    assert isinstance(call, ToolCallBlock)
    assert call.arguments == '{"id":2512292042121000001}'


@pytest.mark.field_case("B226", "B229")
@pytest.mark.parametrize(
    "text",
    ["a\u2028b", "a\u2029b", "a\x85b", "a\x0bb", "a\x1cb", "a\r\nb", "a\ud800b", "ü😀", "\0"],
)
def test_no_text_can_break_a_line(text: str) -> None:
    event = PartialMessage(text=text)
    line = encode_event(0, event)
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert line.decode().splitlines() == [line.decode()[:-1]]
    assert decode_log(encode_header(HEADER) + line).events == (event,)


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_comes_back(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins halves
    log = decode_log(encode_header(HEADER) + encode_event(0, PartialMessage(text=text)))
    assert log.events[0] == PartialMessage(text=whole, time=log.events[0].time)


@settings(max_examples=300)
@given(st.data())
def test_a_log_cut_at_any_byte_keeps_every_completed_turn(data: st.DataObject) -> None:
    events = (*completed_turn(1, "ü\u2028"), *completed_turn(2), *interrupted_turn(3))
    whole = encoded(*events)
    start = len(encode_header(HEADER))
    cut = whole[: data.draw(st.integers(min_value=start, max_value=len(whole)))]
    log = decode_log(cut)
    assert log.events == events[: len(log.events)]
    assert len(log.events) >= cut.count(b"\n") - 1
    repaired = (*log.events, *interrupted_turn_closers(log.events))
    check_log(repaired)
    assert Session.resumed(HEADER, repaired).turns == sum(
        isinstance(event, TurnStarted) for event in log.events
    )
    assert cut[: log.size] == b"".join([encode_header(HEADER), *_lines(log.events)])[: log.size]


def _lines(events: tuple[SessionEvent, ...]) -> list[bytes]:
    return [encode_event(seq, event) for seq, event in enumerate(events)]


def test_a_torn_last_line_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    whole = encoded(*completed_turn(1))
    with caplog.at_level(logging.WARNING, "dsh.agent"):
        log = decode_log(whole + b'{"seq":6,"ti')
    assert (len(log.events), log.size, log.unterminated) == (6, len(whole), False)
    assert "dropped a torn last line of 12 bytes" in caplog.text


def test_a_last_line_that_only_lacks_its_end_is_kept() -> None:
    log = decode_log(encoded(*completed_turn(1))[:-1])
    assert (len(log.events), log.unterminated) == (6, True)


@pytest.mark.guarantee("B-PER-03")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'{"seq":1,', b'{"seq":1', "log:3: is not JSON"),
        (b'{"seq":1,', b'{"seq":2,', "log:3: has event 2 where 1 is expected"),
        (b'"turn/start"', b'"turn/begin"', "log:2: has an unknown event type 'turn/begin'"),
        (b'"turn/start"', b"7", "log:2: has an unknown event type 7"),
        (b'"content":[', b'"content":7,"source":[', r"data\.message\.content is a int, not a list"),
        (b'"message":{', b'"message":7,"mess":{', r"data\.message is a int, not an object"),
        (b'"turn":1,"step":1', b'"turn":true,"step":1', r"data\.turn is a bool, not a int"),
        (b'"role":"user"', b'"role":"robot"', r"log:3: data\.message\.role is not one of 'user'"),
        (b'"type":"text"', b'"type":"video"', r"data\.message\.content\[0\] is no block of type"),
        (b'"text":', b'"txt":', r"data\.message\.content\[0\]\.txt is no field of TextBlock"),
        (b'"input_tokens":3', b'"input_tokens":-3', "Usage.input_tokens is -3"),
        (b'"input_tokens":3', b'"input_tokens":NaN', "log:5: is not JSON: NaN"),
        (b'"input_tokens":3', b'"input_tokens":' + b"9" * 5000, "log:5: is not JSON: Exc"),
        (b'"data":{"turn":1}', b'"data":[1]', "log:2: has data that is no object"),
        (b'"data":{"turn":1}', b'"data":{}', "log:2: data: .*turn"),
        (b'"data":{"turn":1}', b'"date":{"turn":1}', "log:2: is no event: it needs seq, time"),
        (b'"type":"session"', b'"type":"sessions"', "log:1: is no session header"),
        (b'"version":1', b'"version":2', "log:1: has format version 2; known is 1"),
        (b'"version":1', b'"version":true', "log:1: has format version True"),
        (b'"cwd":"/srv"', b'"cwd":"srv"', "log:1: data: session header: cwd is 'srv'"),
        (b"\n", b"\n\n", "log:2: is not JSON"),
        (b"\n", b"\n[]\n", "log:2: is no JSON object"),
        (b"\n", b"\n" + b"[" * 100_000 + b"\n", "log:2: is not JSON"),
        (b"\n", b"\n\xff\n", "log:2: is not JSON"),
    ],
)
def test_damage_before_the_last_line_is_refused_with_its_line(
    old: bytes, new: bytes, message: str
) -> None:
    """Only the torn end of a log is repaired: other damage, a gap, another version are refused."""
    whole = encoded(*completed_turn(1))
    assert old in whole
    with pytest.raises(LogFormatError, match=message):
        decode_log(whole.replace(old, new, 1))


@pytest.mark.parametrize("data", [b"", b'{"type":"sess'])
def test_a_log_without_a_whole_header_says_so(data: bytes) -> None:
    with pytest.raises(LogFormatError, match="log:1: has no whole header"):
        decode_log(data)


@pytest.mark.parametrize(
    ("kind", "field", "wrong", "message"),
    [
        (4, b'"options":{"temperature":0.5}', b'"options":[]', "options is a list, not an object"),
        (8, b'"type":"tool_call",', b"", r"data\.call\.type is not 'tool_call'"),
    ],
    ids=["mapping", "tag"],
)
def test_a_field_of_another_shape_is_refused(
    kind: int, field: bytes, wrong: bytes, message: str
) -> None:
    line = encode_event(0, EVERY_KIND[kind])
    assert field in line
    with pytest.raises(LogFormatError, match=message):
        decode_log(encode_header(HEADER) + line.replace(field, wrong))


def test_a_header_states_its_format() -> None:
    line = encode_header(HEADER)
    assert json.loads(line) == {
        "type": "session",
        "version": SESSION_FORMAT_VERSION,
        "id": "child",
        "cwd": "/srv",
        "parent_session": "parent",
        "created_at": 5,
    }
    assert decode_header(line) == HEADER
    seeded = SessionHeader(id=SessionId("x"), seed_length=7)
    assert decode_header(encode_header(seeded)) == seeded


def test_a_field_of_a_type_that_no_log_holds_has_no_reader() -> None:
    with pytest.raises(TypeError, match="no reader for <class 'complex'>"):
        read_shape(complex, 1j, "value")
