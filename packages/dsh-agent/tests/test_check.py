from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh.agent import (
    AssistantMessage,
    ChatRequest,
    ContextMessage,
    CustomEvent,
    Message,
    PartialMessage,
    PromptBlocked,
    RequestHeader,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionInvariantError,
    SteeringMessage,
    StepEnded,
    StepStarted,
    TextBlock,
    ToolCallBlock,
    ToolCalled,
    ToolResultBlock,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
    check_log,
    check_request,
    interrupted_turn_closers,
)
from dsh.agent.testing import completed_turn, interrupted_turn

USER = Message(role="user", content=(TextBlock(text="hi"),))
MODEL = Message(role="assistant", content=(TextBlock(text="ho"),), source="model")
OPEN = completed_turn(1)[:3]


def answer(message: Message = MODEL) -> AssistantMessage:
    return AssistantMessage(message=message, finish_reason="stop", usage=Usage())


def called(call_id: str) -> ToolCalled:
    return ToolCalled(call=ToolCallBlock(id=call_id, name="t", arguments="{}"))


def resulted(call_id: str) -> ToolResulted:
    return ToolResulted(result=ToolResultBlock(call_id=call_id, content=()))


@pytest.mark.guarantee("B-SES-34", "B-SES-35", "B-SES-36")
@pytest.mark.parametrize(
    ("log", "rule", "message"),
    [
        ([TurnStarted(turn=2)], "turn-number", "event 0: turn 2 starts, turn 1 is the next"),
        ([*OPEN, TurnStarted(turn=2)], "turn-overlap", "turn 2 starts while turn 1 is open"),
        ([*OPEN[:1], TurnEnded(turn=2, reason="x")], "turn-end", "turn 2 ends, turn 1 is open"),
        ([*OPEN, TurnEnded(turn=1, reason="x")], "turn-end-in-step", "while its step 1 is open"),
        (
            [*OPEN[:1], StepStarted(turn=2, step=1)],
            "step-turn",
            "a step of turn 2 starts in",
        ),
        ([*OPEN[:1], StepStarted(turn=1, step=2)], "step-number", "step 2 starts, step 1 is the"),
        (
            [*OPEN, StepStarted(turn=1, step=2)],
            "step-overlap",
            "step 2 starts while step 1 is",
        ),
        ([*OPEN[:1], StepEnded(turn=1, step=1)], "step-end", "step 1 ends, no step is open"),
        ([*OPEN, StepEnded(turn=1, step=2)], "step-end", "step 2 of turn 1 ends, step 1 of turn 1"),
        ([*OPEN[:1], answer()], "outside-step", "an? AssistantMessage outside any step"),
        ([*OPEN[:1], PartialMessage(text="")], "outside-step", "a PartialMessage outside any step"),
        ([*OPEN[:1], called("c")], "outside-step", "a ToolCalled outside any step"),
        ([*OPEN, resulted("c")], "unasked-result", "a result for 'c', which is no open call"),
        ([*OPEN, called("c"), resulted("c"), resulted("c")], "unasked-result", "event 5"),
        (
            [*OPEN, UserMessage(message=MODEL)],
            "message-role",
            "a UserMessage with role",
        ),
        ([*OPEN, answer(USER)], "message-role", "an AssistantMessage with role 'user'"),
        ([*OPEN, object()], "event-type", "a object is no session event"),
    ],
)
def test_each_kind_of_illegal_log_has_a_message_of_its_own(
    log: list[SessionEvent], rule: str, message: str
) -> None:
    """Turns and steps are numbered, nested and closed in order, and results answer calls."""
    with pytest.raises(SessionInvariantError, match=message) as caught:
        check_log(log)
    assert (caught.value.rule, caught.value.code) == (rule, "INVARIANT")
    check_log(log[: caught.value.seq])


@pytest.mark.guarantee("B-SES-37")
@pytest.mark.parametrize(
    "event",
    [
        UserMessage(message=USER),
        PromptBlocked(message=USER, reason="no"),
        RequestHeader(model="m"),
        CustomEvent(kind="plugin/x", data=None),
        TurnEnded(turn=1, reason="completed"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_nothing_happens_outside_a_turn(event: SessionEvent) -> None:
    """Every event lies in a turn, those of plugins included."""
    with pytest.raises(SessionInvariantError, match=f"a {type(event).__name__} outside any turn"):
        check_log([*completed_turn(1), event])


@pytest.mark.guarantee("B-SES-36")
def test_a_call_may_stay_without_a_result_and_ids_may_repeat() -> None:
    """A call nobody answered is legal, and an id answers as often as it was called."""
    check_log([*OPEN, called("c"), called("c"), resulted("c"), resulted("c"), called("d")])
    check_log([*OPEN, called("c"), StepEnded(turn=1, step=1), TurnEnded(turn=1, reason="error")])


@pytest.mark.guarantee("B-SES-42")
def test_a_log_takes_what_the_checker_would_refuse() -> None:
    """Checking only looks: a log without its checker behaves in the same way."""
    log = Session(SessionHeader(id=SessionId("s")))
    assert log.append(TurnEnded(turn=9, reason="x")) == 0
    with pytest.raises(SessionInvariantError):
        check_log(log.events)


@pytest.mark.guarantee("B-SES-40")
def test_a_request_must_be_what_the_log_reconstructs() -> None:
    """A model is sent what its log says, field by field and message by message."""
    header = RequestHeader(model="m", system="Be kind.", options={"top_k": 1})
    events = (*completed_turn(1), TurnStarted(turn=2), UserMessage(message=USER), header)
    messages = (
        Message(role="user", content=(TextBlock(text="hello"),)),
        Message(role="assistant", content=(TextBlock(text="re: hello"),), source="model"),
        USER,
    )
    right = ChatRequest(model="m", system="Be kind.", options={"top_k": 1}, messages=messages)
    check_request(events, right)
    wrong = {
        "model": ChatRequest(model="n", system="Be kind.", options={"top_k": 1}, messages=messages),
        "system": ChatRequest(model="m", options={"top_k": 1}, messages=messages),
        "tools": ChatRequest(model="m", system="Be kind.", tools=(), messages=messages),
        "options": ChatRequest(model="m", system="Be kind.", messages=messages),
        "messages": ChatRequest(
            model="m", system="Be kind.", options={"top_k": 1}, messages=messages[1:]
        ),
    }
    for field, request in wrong.items():
        with pytest.raises(SessionInvariantError, match=f"the request's {field} "):
            check_request(events, request)
    with pytest.raises(SessionInvariantError, match="without a header"):
        check_request(completed_turn(1), right)


# A program of choices, each turned into a legal event of the log as it stands then.
CHOICES = st.lists(st.integers(min_value=0, max_value=11), max_size=60)


def legal_log(choices: list[int]) -> list[SessionEvent]:
    log: list[SessionEvent] = []
    turn = step = 0
    turn_open = step_open = False
    unanswered: list[str] = []
    anywhere: list[Callable[[], SessionEvent]] = [
        lambda: UserMessage(message=USER),
        lambda: ContextMessage(message=USER),
        lambda: SteeringMessage(message=USER),
        lambda: RequestHeader(model="m"),
        lambda: CustomEvent(kind="p/x", data={"n": [1, -0.0, None]}),
    ]
    for choice in choices:
        if not turn_open:
            turn, turn_open, step = turn + 1, True, 0
            log.append(TurnStarted(turn=turn))
        elif choice < 5:
            log.append(anywhere[choice]())
        elif not step_open and choice < 9:
            step, step_open, unanswered = step + 1, True, []
            log.append(StepStarted(turn=turn, step=step))
        elif not step_open:
            turn_open = False
            log.append(TurnEnded(turn=turn, reason="completed"))
        elif choice == 5:
            log.append(answer())
        elif choice == 6:
            unanswered.append(f"c{len(log) % 3}")
            log.append(called(unanswered[-1]))
        elif choice < 9 and unanswered:
            log.append(resulted(unanswered.pop(choice % len(unanswered))))
        elif choice == 9:
            log.append(PartialMessage(text="half"))
        else:
            step_open = False
            log.append(StepEnded(turn=turn, step=step))
    return log


@given(CHOICES)
def test_any_interleaving_of_legal_appends_passes_and_can_be_closed(choices: list[int]) -> None:
    log = legal_log(choices)
    session = Session(SessionHeader(id=SessionId("s")))
    assert [session.append(event) for event in log] == list(range(len(log)))
    check_log(session.events)
    closed = [*log, *interrupted_turn_closers(log)]
    check_log(closed)
    assert interrupted_turn_closers(closed) == ()
    if closed:
        assert isinstance(closed[-1], TurnEnded)
        seeded = Session(SessionHeader(id=SessionId("t"), seed_length=len(closed)), seed=closed)
        assert list(seeded.messages)[: len(session.messages)] == list(session.messages)


@pytest.mark.guarantee("B-SES-31", "B-SES-33")
def test_an_interrupted_turn_is_closed_call_by_call() -> None:
    """Each call left without a result gets an error, then step and turn end, at the last moment."""
    log = (*completed_turn(1), *interrupted_turn(2))
    closers = interrupted_turn_closers(log)
    kinds = [type(event).__name__ for event in closers]
    assert kinds == ["ToolResulted", "ToolCalled", "ToolResulted", "StepEnded", "TurnEnded"]
    results = [event for event in closers if isinstance(event, ToolResulted)]
    assert [event.result.call_id for event in results] == ["c2", "c3"]
    assert all(event.result.is_error and event.code == "INTERRUPTED" for event in results)
    assert {event.time for event in closers} == {log[-1].time}
    last = closers[-1]
    assert isinstance(last, TurnEnded)
    assert (last.turn, last.reason) == (2, "interrupted")


@pytest.mark.guarantee("B-SES-32")
def test_a_balanced_log_and_closed_steps_are_left_alone() -> None:
    """Nothing is added to a log without an open turn, nor for calls whose step has been closed."""
    assert interrupted_turn_closers(()) == ()
    assert interrupted_turn_closers(completed_turn(1)) == ()
    log = (*OPEN, called("c"), StepEnded(turn=1, step=1))
    assert [type(event) for event in interrupted_turn_closers(log)] == [TurnEnded]


def test_a_call_that_was_dispatched_without_an_answer_in_the_log_is_closed_too() -> None:
    closers = interrupted_turn_closers((*OPEN, called("c")))
    assert [type(event) for event in closers] == [ToolResulted, StepEnded, TurnEnded]
