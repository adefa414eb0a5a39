import logging
from collections.abc import Callable, Sequence

import pytest
import trio

from dsh.agent import (
    AssistantMessage,
    ContextMessage,
    CustomEvent,
    ImageBlock,
    JsonValueError,
    Message,
    OpenTurnError,
    ReentrantAppendError,
    RequestHeader,
    SeedError,
    Session,
    SessionEvent,
    SessionHeader,
    SessionHeaderError,
    SessionId,
    SessionPrefix,
    SteeringMessage,
    TextBlock,
    ToolResultBlock,
    ToolResulted,
    ToolSchema,
    TurnEnded,
    TurnStarted,
    Usage,
)
from dsh.agent.testing import completed_turn, interrupted_turn


def header(seed_length: int = 0) -> SessionHeader:
    return SessionHeader(id=SessionId("s"), seed_length=seed_length)


def session(*events: SessionEvent) -> Session:
    log = Session(header())
    for event in events:
        log.append(event)
    return log


def said(text: str, source: str = "user") -> Message:
    return Message(role="user", content=(TextBlock(text=text),), source=source)


class ListSink:
    def __init__(self) -> None:
        self.events: list[SessionEvent] = []
        self.calls: list[str] = []

    def append(self, event: SessionEvent) -> None:
        self.events.append(event)

    async def flush(self) -> None:
        await trio.lowlevel.checkpoint()
        self.calls.append("flush")

    async def aclose(self) -> None:
        await trio.lowlevel.checkpoint()
        self.calls.append("aclose")


@pytest.mark.guarantee("B-SES-01")
def test_an_event_gets_its_index_as_number() -> None:
    """An event's number is its place in the log, counted from nought."""
    log = Session(header())
    events = completed_turn(1) + completed_turn(2)
    assert [log.append(event) for event in events] == list(range(12))
    assert tuple(log.events) == events


@pytest.mark.guarantee("B-SES-02", "B-SES-03")
def test_data_that_is_no_json_never_reaches_the_log() -> None:
    """What a log cannot keep without loss is refused before anything has been appended."""
    log = session(TurnStarted(turn=1))
    with pytest.raises(JsonValueError, match=r"data\.size: nan is not JSON"):
        log.append(CustomEvent(kind="plugin/seen", data={"size": float("nan")}))
    with pytest.raises(TypeError, match="a str is no session event"):
        log.append("hello")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert len(log.events) == 1


def test_an_event_states_the_time_of_its_making_in_milliseconds() -> None:
    before = SessionHeader(id=SessionId("a")).created_at
    assert before <= TurnStarted(turn=1).time <= SessionHeader(id=SessionId("a")).created_at
    assert before > 1_700_000_000_000


@pytest.mark.guarantee("B-SES-04")
def test_a_sink_cannot_append_to_the_log_it_is_told_of() -> None:
    """An append made while another one is being announced is refused."""
    refused: list[Exception] = []

    class Meddler(ListSink):
        def append(self, event: SessionEvent) -> None:
            try:
                log.append(event)
            except ReentrantAppendError as exc:
                refused.append(exc)

    log = Session(header(), sink=Meddler())
    log.append(TurnStarted(turn=1))
    assert (len(refused), len(log.events)) == (1, 1)
    log.append(TurnEnded(turn=1, reason="completed"))
    assert len(log.events) == 2


@pytest.mark.guarantee("B-SES-03")
def test_a_sink_that_raises_is_logged_and_the_event_stays(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Once an event is in the log, whoever is told of it cannot take it out by failing."""

    class Broken(ListSink):
        def append(self, event: SessionEvent) -> None:
            raise OSError("full")

    log = Session(header(), sink=Broken())
    with caplog.at_level(logging.ERROR, "dsh.agent"):
        assert log.append(TurnStarted(turn=1)) == 0
    assert len(log.events) == 1
    assert "the sink of session s refused an event" in caplog.text


@pytest.mark.guarantee("B-SES-05")
def test_views_of_a_log_do_not_change_when_it_grows() -> None:
    """What was read from a log stays as it was read, and nothing in it can be changed."""
    data = {"rows": [1, 2]}
    log = session(*completed_turn(1), TurnStarted(turn=2), CustomEvent(kind="p/x", data=data))
    events, messages = log.events, log.messages
    data["rows"].append(3)
    for event in completed_turn(2)[1:]:
        log.append(event)
    assert (len(events), len(messages)) == (8, 2)
    custom = events[7]
    assert isinstance(custom, CustomEvent)
    assert custom.data == {"rows": (1, 2)}
    with pytest.raises(AttributeError):
        custom.kind = "other"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.guarantee("B-SES-06", "B-SES-41")
def test_a_seed_that_is_no_legal_log_is_refused() -> None:
    """A seed from anywhere but a log is replayed in full before a session is made from it."""
    events = (*completed_turn(1), *completed_turn(3))
    with pytest.raises(SeedError, match="event 6: turn 3 starts, turn 2 is the next"):
        Session(header(len(events)), seed=events)
    with pytest.raises(SeedError, match="event 0: a str is no session event"):
        Session(header(1), seed="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_the_header_must_state_the_length_of_the_seed() -> None:
    with pytest.raises(SeedError, match="seed_length is 5, the seed's length is 6"):
        Session(header(5), seed=completed_turn(1))
    with pytest.raises(SeedError, match="seed_length is 1, the seed's length is 0"):
        Session(header(1))


@pytest.mark.guarantee("B-SES-07", "B-SES-08")
def test_a_session_goes_on_after_its_seed_whatever_becomes_of_the_list() -> None:
    """A seed is copied, and the first own event comes directly after it."""
    seed = list(completed_turn(1))
    log = Session(header(6), seed=seed)
    seed.clear()
    assert log.append(TurnStarted(turn=2)) == 6
    assert [type(event) for event in log.own_events] == [TurnStarted]
    assert [message.content for message in log.messages] == [
        (TextBlock(text="hello"),),
        (TextBlock(text="re: hello"),),
    ]


@pytest.mark.guarantee("B-SES-11")
def test_an_empty_answer_derives_no_message() -> None:
    """Messages are derived once, in order, and an answer without content gives none."""
    silent = AssistantMessage(
        message=Message(role="assistant", content=()), finish_reason="stop", usage=Usage()
    )
    log = session(*completed_turn(1), silent)
    assert [message.role for message in log.messages] == ["user", "assistant"]
    assert log.messages[0] is log.messages[0]


@pytest.mark.guarantee("B-SES-12")
def test_results_context_and_steering_derive_user_messages() -> None:
    """A tool's result becomes a user message, and what plugins add is marked with its source."""
    result = ToolResultBlock(call_id="c", content=(TextBlock(text="3"),))
    picture = ImageBlock(media_type="image/png", data="AA==")
    pictured = Message(role="user", content=(picture,), source='a"b')
    log = session(
        ToolResulted(result=result),
        ContextMessage(message=said("It is late.", "clock")),
        SteeringMessage(message=said("Stop.")),
        ContextMessage(message=pictured),
    )
    assert [message.content for message in log.messages] == [
        (result,),
        (TextBlock(text='<context source="clock">\nIt is late.\n</context>'),),
        (TextBlock(text='<steering source="user">\nStop.\n</steering>'),),
        (
            TextBlock(text='<context source="a&quot;b">'),
            picture,
            TextBlock(text="</context>"),
        ),
    ]
    assert {message.role for message in log.messages} == {"user"}


@pytest.mark.guarantee("B-SES-13", "B-SES-14")
def test_the_last_request_header_is_whole_and_canonical() -> None:
    """The header in force is the last one logged, in full, where empty means absent."""
    tool = ToolSchema(name="t", description="", parameters={"type": "object"})
    first = RequestHeader(model="m", system="Be brief.", tools=(tool,))
    second = RequestHeader(model="m", system="", tools=(), options={"top_k": 1})
    log = session(TurnStarted(turn=1), first)
    assert log.request_header is first
    log.append(second)
    assert log.request_header is second
    assert (second.system, second.tools) == (None, None)
    assert first.asks_like(RequestHeader(model="m", system="Be brief.", tools=(tool,), time=1))
    assert not first.asks_like(second)
    assert not first.asks_like(None)


@pytest.mark.guarantee("B-SES-26")
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SessionHeader(id=SessionId("")), "id is empty"),
        (lambda: SessionHeader(id=SessionId("a"), cwd="src"), "cwd is 'src', which is not abs"),
        (lambda: SessionHeader(id=SessionId("a"), seed_length=-1), "seed_length is negative"),
        (lambda: SessionHeader(id=SessionId("a"), created_at=-1), "created_at is negative"),
        (
            lambda: SessionHeader(id=SessionId("a"), parent_session=SessionId("")),
            "parent_session is empty",
        ),
    ],
)
def test_a_header_with_an_impossible_value_names_its_field(
    make: Callable[[], SessionHeader], message: str
) -> None:
    """Lineage is checked when it is written down: who, where, from whom, how much inherited."""
    with pytest.raises(SessionHeaderError, match=message):
        make()


@pytest.mark.parametrize("value", [None, 3, True])
def test_a_header_field_of_the_wrong_type_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match=r"SessionHeader\.id is a"):
        SessionHeader(id=value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"SessionHeader\.seed_length is a"):
        SessionHeader(id=SessionId("a"), seed_length=1.0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.guarantee("B-SES-27", "B-SES-29")
def test_a_prefix_shares_the_completed_turns_and_nothing_after_them() -> None:
    """A fork sees all of the log through its last completed turn, as the very same objects."""
    log = session(RequestHeader(model="m"), *completed_turn(1))
    for event in (TurnStarted(turn=2), RequestHeader(model="other")):
        log.append(event)
    prefix = log.completed_prefix()
    assert prefix is not None
    child = Session(header(len(prefix.events)), seed=prefix)
    assert all(a is b for a, b in zip(child.events, log.events, strict=False))
    assert (len(child.events), child.turns, len(child.messages)) == (7, 1, 2)
    assert child.request_header is log.events[0]
    assert child.completed_prefix() is prefix


def test_there_is_no_prefix_before_the_first_turn_has_ended() -> None:
    assert Session(header()).completed_prefix() is None
    assert session(*interrupted_turn(1)).completed_prefix() is None
    assert Session(header(), seed=()).completed_prefix() is None


@pytest.mark.guarantee("B-SES-28", "B-SES-30")
def test_a_raw_seed_may_end_at_any_completed_turn_but_not_in_an_open_one() -> None:
    """Inheriting ends where a turn has ended, whatever its reason; an open turn is refused."""
    events = (*completed_turn(1)[:-1], TurnEnded(turn=1, reason="error"), *interrupted_turn(2))
    assert Session(header(6), seed=events[:6]).turns == 1
    with pytest.raises(OpenTurnError, match="the seed ends inside turn 2"):
        Session(header(len(events)), seed=events)
    assert OpenTurnError.code == "OPEN_TURN"


def test_only_a_log_makes_a_prefix() -> None:
    prefix = session(*completed_turn(1)).completed_prefix()
    assert prefix is not None
    with pytest.raises(TypeError, match="only a log makes a SessionPrefix"):
        SessionPrefix(None, events=prefix.events, messages=prefix.messages, turns=1, header=None)


def test_a_fork_of_a_fork_shows_all_three_parts_in_order() -> None:
    first = session(*completed_turn(1, "a")).completed_prefix()
    assert first is not None
    middle = Session(header(6), seed=first)
    for event in completed_turn(2, "b"):
        middle.append(event)
    second = middle.completed_prefix()
    assert second is not None
    last = Session(header(12), seed=second)
    for event in completed_turn(3, "c"):
        last.append(event)
    texts = [
        block.text for m in last.messages for block in m.content if isinstance(block, TextBlock)
    ]
    assert texts == ["a", "re: a", "b", "re: b", "c", "re: c"]
    assert [last.events[i] for i in range(-18, 18)] == [*last.events, *last.events]


def test_a_resumed_session_goes_on_with_its_own_log() -> None:
    events = completed_turn(1) + completed_turn(2)
    sink = ListSink()
    log = Session.resumed(header(6), events, sink=sink)
    assert (len(log.own_events), log.turns, sink.events) == (6, 2, [])
    assert log.append(TurnStarted(turn=3)) == 12
    assert len(sink.events) == 1
    with pytest.raises(OpenTurnError):
        Session.resumed(header(), interrupted_turn(1))
    with pytest.raises(OpenTurnError):
        Session.resumed(header(5), events)


async def test_a_session_flushes_its_sink_even_for_a_cancelled_caller() -> None:
    sink = ListSink()
    log = Session(header(), sink=sink)
    log.append(TurnStarted(turn=1))
    with trio.CancelScope() as scope:
        scope.cancel()
        await log.flush()
    await log.aclose()
    await log.aclose()
    assert sink.calls == ["flush", "aclose"]
    log.append(TurnEnded(turn=1, reason="completed"))
    assert len(sink.events) == 1


async def test_a_session_without_a_sink_has_nothing_to_flush() -> None:
    log = session(*completed_turn(1))
    await log.flush()
    await log.aclose()
    assert len(log.events) == 6


def test_a_store_keeps_a_log_from_its_first_event_on() -> None:
    made: list[tuple[SessionHeader, int]] = []
    sink = ListSink()

    class Store:
        def create(self, header: SessionHeader, seed: Sequence[SessionEvent], /) -> ListSink:
            made.append((header, len(seed)))
            return sink

    log = Session(header(6), seed=completed_turn(1))
    events = completed_turn(2)
    log.append(events[0])
    log.keep_in(Store())
    for event in events[1:]:
        log.append(event)
    assert made == [(log.header, 6)]
    assert tuple(sink.events) == events
