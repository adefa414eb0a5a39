import pytest

from dsh.agent import AgentError, HarnessError, Session, SessionHeader, SessionId, TurnStarted
from dsh.agent.testing import completed_turn


def forked() -> Session:
    parent = Session(SessionHeader(id=SessionId("parent")))
    for event in completed_turn(1):
        parent.append(event)
    child = Session(
        SessionHeader(id=SessionId("child"), seed_length=6), seed=parent.completed_prefix()
    )
    child.append(TurnStarted(turn=2))
    return child


def test_a_view_is_a_sequence_across_its_parts() -> None:
    events = forked().events
    assert events[6] is events[-1]
    assert events[4:] == events[-3:] == tuple(events)[4:]
    assert events == list(events)
    assert events != list(events)[1:]
    assert events != 7
    with pytest.raises(IndexError, match="index 7 of a sequence of 7"):
        events[7]
    with pytest.raises(IndexError, match="index -8 of a sequence of 7"):
        events[-8]


def test_a_view_cannot_be_changed_or_hashed() -> None:
    events = forked().events
    with pytest.raises(TypeError, match="does not support item assignment"):
        events[0] = TurnStarted(turn=1)  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
    with pytest.raises(TypeError, match="unhashable"):
        hash(events)


def test_what_is_printed_says_how_long_it_is() -> None:
    session = forked()
    assert repr(session) == "<Session child: turns=1 events=7>"
    assert repr(session.events) == "<Chain of 7>"
    assert repr(session.completed_prefix()) == "<SessionPrefix: turns=1 events=6>"


@pytest.mark.parametrize("base", [HarnessError, AgentError])
def test_a_base_error_is_not_raised_itself(base: type[HarnessError]) -> None:
    with pytest.raises(TypeError, match="is a base class: raise one of its subclasses"):
        base("something")
