"""The session log: appending, deriving messages and forking cost the same at any length."""

import tracemalloc
from collections.abc import Callable, Sequence

from benchmarks.harness import (
    Benchmark,
    Case,
    Figure,
    Stopwatch,
    interleaved,
    tracked_objects,
)
from dsh.agent import Session, SessionHeader, SessionId, TurnEnded
from dsh.agent.testing import completed_turn

__all__ = ["BENCHMARK", "log_of"]

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

    def case() -> float:
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

    def case() -> float:
        with Stopwatch() as watch:
            for _ in range(500):
                _forked(parent)
        return watch.per(500)

    return case


def _kept_by_forks(messages: int) -> tuple[float, float]:
    """Bytes, and objects the collector walks, that a fork keeps alive of its own."""
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
    return size / len(children), objects / len(children)


def _run(rounds: int) -> Sequence[Figure]:
    makers: dict[str, Callable[[int], Case]] = {"append and view": _append, "fork": _fork}
    measured = interleaved(
        {f"{name} at {n:,}": make(n) for name, make in makers.items() for n in (SMALL, LARGE)},
        rounds=rounds,
    )
    (small, _), (large, tracked) = _kept_by_forks(SMALL), _kept_by_forks(LARGE)
    figures = [measured.microseconds(name) for name in measured.samples]
    for name in makers:
        figures.append(measured.ratio(f"{name} at {LARGE:,}", f"{name} at {SMALL:,}", limit=1.2))
    return (
        *figures,
        Figure(name="a fork of 10,000 keeps", value=large, unit="bytes"),
        Figure(name="that ÷ what a fork of 10 keeps", value=large / small, limit=1.2),
        Figure(name="tracked objects per fork", value=tracked),
    )


BENCHMARK = Benchmark(name="log", about="append, derived messages and fork by length", run=_run)
