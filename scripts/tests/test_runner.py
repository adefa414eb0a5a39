"""The runner of the gates."""

import io
from pathlib import Path
from threading import Barrier, Lock

import pytest

from gates.gate import Gate
from gates.runner import run


def green(root: Path) -> list[str]:
    return []


def red(root: Path) -> list[str]:
    return ["a.py:1: bad\nworse", "b.py:2: bad"]


def broken(root: Path) -> list[str]:
    raise LookupError("no such table")


def test_one_line_per_gate_and_every_failure_beneath_it() -> None:
    out = io.StringIO()
    gates = [Gate(name="first", check=red), Gate(name="second", check=green)]
    assert not run(gates, Path(), out=out)
    assert out.getvalue().splitlines() == [
        "FAIL first: 2",
        "     a.py:1: bad",
        "     worse",
        "     b.py:2: bad",
        "ok   second",
    ]


def test_gates_that_all_hold_are_a_success() -> None:
    out = io.StringIO()
    assert run([Gate(name="only", check=green)], Path(), out=out)
    assert out.getvalue() == "ok   only\n"


@pytest.mark.guarantee("B-GATE-15")
def test_a_gate_that_raises_is_a_failure_and_the_others_still_run() -> None:
    """No gate waits for another, so one that fails or breaks leaves the others their say."""
    out = io.StringIO()
    gates = [Gate(name="first", check=broken), Gate(name="second", check=green)]
    assert not run(gates, Path(), out=out)
    first, *_, last = out.getvalue().splitlines()
    assert first == "FAIL first: 1"
    assert "LookupError: no such table" in out.getvalue()
    assert last == "ok   second"


def test_a_gate_that_holds_may_add_a_note_to_its_line() -> None:
    out = io.StringIO()
    gates = [
        Gate(name="first", check=green, note=lambda root: "3 of 4"),
        Gate(name="second", check=red, note=lambda root: "never shown"),
    ]
    assert not run(gates, Path(), out=out)
    assert out.getvalue().startswith("ok   first: 3 of 4\nFAIL second: 2\n")
    assert "never shown" not in out.getvalue()


@pytest.mark.guarantee("B-GATE-15")
def test_gates_run_a_bounded_number_at_a_time() -> None:
    """Gates run side by side, never more of them than the bound allows."""
    together, lock, running, most = Barrier(2, timeout=10), Lock(), 0, 0

    def check(root: Path) -> list[str]:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()  # breaks unless a second gate runs meanwhile
        with lock:
            running -= 1
        return []

    gates = [Gate(name=str(number), check=check) for number in range(6)]
    assert run(gates, Path(), out=io.StringIO(), at_once=2)
    assert most == 2


def test_the_slow_gates_at_the_end_of_the_list_begin_first_and_are_printed_last() -> None:
    begun, out = list[str](), io.StringIO()

    def gate(name: str) -> Gate:
        def check(root: Path) -> list[str]:
            begun.append(name)
            return []

        return Gate(name=name, check=check)

    assert run([gate("quick"), gate("slow")], Path(), out=out, at_once=1)
    assert begun == ["slow", "quick"]
    assert out.getvalue() == "ok   quick\nok   slow\n"
