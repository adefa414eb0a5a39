"""Runs gates side by side and prints one line of result each."""

import os
import traceback
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final, TextIO

from gates.gate import Gate

PROCESSORS: Final = os.cpu_count() or 1


def run(gates: Sequence[Gate], root: Path, *, out: TextIO, at_once: int = PROCESSORS) -> bool:
    """Run *gates* on the tree at *root*, print their results in order, return whether all held.

    *at_once* of them run at a time: the slow ones wait for a process of their own. The last begin
    first, for the quick ones are first in the list: none that takes long is left to run alone.
    Every gate runs, whatever became of the others, and every failure is printed.
    """
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        results = [(gate, pool.submit(_outcome, gate, root)) for gate in reversed(gates)]
        held = [_report(gate.name, result, out) for gate, result in reversed(results)]
        return all(held)


def _outcome(gate: Gate, root: Path) -> tuple[list[str], str]:
    """Return the failures of *gate* and, when there are none, what its line adds."""
    failures = gate.check(root)
    return failures, "" if failures or gate.note is None else f": {gate.note(root)}"


def _report(name: str, result: Future[tuple[list[str], str]], out: TextIO) -> bool:
    error = result.exception()
    failures, note = ([_crash(error)], "") if error is not None else result.result()
    print(f"FAIL {name}: {len(failures)}" if failures else f"ok   {name}{note}", file=out)
    for failure in failures:
        print("     " + failure.replace("\n", "\n     "), file=out)
    out.flush()
    return not failures


def _crash(error: BaseException) -> str:
    return "the gate itself failed\n" + "".join(traceback.format_exception(error)).rstrip()
