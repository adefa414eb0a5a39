"""The session log: appending, deriving messages and forking cost the same at any length."""

import tracemalloc
from collections.abc import Mapping

from benchmarks.harness import Case, Sample, Stopwatch, tracked_objects
from dsh.agent import Session, SessionHeader, SessionId, TurnEnded
from dsh.agent.testing import completed_turn

__all__ = ["CASES", "log_of"]

SMALL, LARGE = 10, 10_000
_LOGS, _TURNS = 10, 40
_STARTED, *_REST = completed_turn(1)


def log_of(messages: int) -> Session:
    """A log with that many messages, two a turn."""
    session = Session(SessionHeader(id=SessionId("benchmark")))
    for number in range(1, messages // 2 + 1):
        for event in (_STARTED, *_REST[:-1]):
            session.append(event)
        session.append(TurnEnded(turn=number, reason="completed"))
    return session


def _append(messages: int) -> Case:
    events = (_STARTED, *_REST) * _TURNS

    def case() -> Sample:
        logs = [log_of(messages) for _ in range(_LOGS)]
        with Stopwatch() as watch:
            for log in logs:
                for event in events:
                    log.append(event)
                    assert log.messages
        return watch.per(_LOGS * len(events))

    return case


def _forked(parent: Session) -> Session:
    prefix = parent.completed_prefix()
    assert prefix is not None
    header = SessionHeader(
        id=SessionId("child"), parent_session=parent.header.id, seed_length=len(prefix.events)
    )
    child = Session(header, seed=prefix)
    child.append(_STARTED)
    assert len(child.messages) == len(prefix.messages)
    return child


def _fork(messages: int) -> Case:
    parent = log_of(messages)

    def case() -> Sample:
        with Stopwatch() as watch:
            for _ in range(500):
                _forked(parent)
        return watch.per(500)

    return case


def _kept(messages: int) -> Case:
    return lambda: _kept_by_forks(messages)


def _kept_by_forks(messages: int) -> Sample:
    """Memory, and objects the collector walks, that a fork keeps alive of its own."""
    parent = log_of(messages)
    objects = tracked_objects()
    children = [_forked(parent) for _ in range(100)]
    objects = tracked_objects() - objects
    del children
    tracemalloc.start()
    try:
        children = [_forked(parent) for _ in range(100)]
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    return {"kilobytes": size / len(children) / 1024, "objects": objects / len(children)}


CASES: Mapping[str, Case] = {
    f"{name} {messages:,} messages": make(messages)
    for name, make in (
        ("append to and view", _append),
        ("log forked from", _fork),
        ("kept by a fork of", _kept),
    )
    for messages in (SMALL, LARGE)
}
