"""A peer's module gives four operations, and its cases are made of them, awaited or in threads."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from benchmarks.harness import Case
from benchmarks.imports import import_case
from benchmarks.peers.cases import Gate, ThreadGate, asyncio_cases, thread_cases

alive: list[int] = []


def awaited(gate: Gate) -> Callable[[], Awaitable[None]]:
    async def child() -> None:
        alive.append(1)
        await gate.passes()
        alive.pop()

    return child


def threaded(gate: ThreadGate) -> Callable[[], None]:
    def child() -> None:
        alive.append(1)
        gate.passes()

    return child


def awaited_once(_: object) -> Callable[[], Awaitable[None]]:
    return awaited(Gate())


def threaded_once(_: object) -> Callable[[], None]:
    return threaded(ThreadGate())


def awaited_cases(**others: Any) -> Mapping[str, Case | str]:
    fields: dict[str, Any] = {
        "parent": awaited_once,
        "structured": "has no schema",
        "given": awaited_once,
        "imports": ("json",),
    }
    return asyncio_cases(children=awaited, **{**fields, **others})


def run(case: Case | str) -> Mapping[str, float]:
    assert not isinstance(case, str)
    return case()


@pytest.mark.parametrize("name", ["delegation", "child alone", "fan-out of 100"])
def test_an_awaited_operation_is_timed(name: str) -> None:
    sample = run(awaited_cases()[name])
    assert sample["cpu"] > 0
    assert sample["wall"] > 0
    assert not alive


def test_what_a_peer_does_not_have_is_said() -> None:
    assert awaited_cases()["structured child"] == "has no schema"
    given = awaited_cases(given="has no past")
    assert given["child given 1,000 messages"] == given["child given 10,000 messages"]
    assert given["child given 1,000 messages"] == "has no past"


def test_the_parent_is_told_which_tool_to_call() -> None:
    called: list[str] = []

    def parent(tool: str) -> Callable[[], Awaitable[None]]:
        called.append(tool)
        return awaited(Gate())

    cases = awaited_cases(parent=parent)
    run(cases["delegation"])
    run(cases["trivial tool"])
    assert called == ["delegate", "trivial"]


def test_a_gate_opens_when_all_wait_at_it() -> None:
    passed: list[str] = []

    async def passes(gate: Gate, name: str) -> None:
        await gate.passes()
        passed.append(name)

    async def main() -> None:
        gate = Gate(2)
        first = asyncio.ensure_future(passes(gate, "first"))
        done, _ = await asyncio.wait([first], timeout=0)
        assert not done
        await passes(gate, "second")
        await first
        assert sorted(passed) == ["first", "second"]

    asyncio.run(main())


def test_blocking_children_that_are_alive_at_once_have_threads() -> None:
    cases = thread_cases(
        children=threaded,
        parent=threaded_once,
        structured="has no schema",
        given="has no past",
        imports=("json",),
    )
    assert run(cases["fan-out of 100"])["wall"] > 0
    assert len(alive) == 100
    alive.clear()
    assert run(cases["live child"])["kilobytes"] > 0
    alive.clear()


def test_an_import_is_measured_in_an_interpreter_of_its_own() -> None:
    sample = import_case("import wave")()
    assert sample["modules"] > 0
    assert (sample["early"], sample["cpu"] > 0) == (0, True)
