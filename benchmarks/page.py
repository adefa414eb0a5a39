"""``docs/performance.md``: what a run measured, with a word on how to read it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from benchmarks.results import OURS, Results
from benchmarks.table import cell, value_text
from benchmarks.targets import Verdict

__all__ = ["Run", "page"]

INTRODUCTION: Final = Path(__file__).with_name("introduction.md")

_MEASURES: Final = {
    "cpu": "CPU time per operation",
    "wall": "Wall time per operation",
    "kilobytes": "Memory in KB",
    "objects": "Objects that the cyclic collector walks",
}


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What has to be known about a run beside its results."""

    date: str
    minutes: float
    command: str
    machine: str
    versions: Mapping[str, str]


def page(run: Run, results: Results, verdicts: Sequence[Verdict], *, plot: str) -> str:
    """The page, which shows the picture *plot* that lies beside it."""
    return "\n".join(_lines(run, results, verdicts, plot))


def _lines(run: Run, results: Results, verdicts: Sequence[Verdict], plot: str) -> Iterator[str]:
    yield INTRODUCTION.read_text(encoding="utf-8")
    yield f"![What children cost, ours and others']({plot})\n"
    yield "## The run\n"
    yield f"`{run.command}` on {run.date}, {run.minutes:.0f} minutes, on {run.machine}.\n"
    yield "| name | what it is |\n| --- | --- |"
    yield from (f"| {name} | {what} |" for name, what in run.versions.items())
    yield "\n## Targets\n"
    yield "| figure of ours | value | target | limit | |\n| --- | --- | --- | --- | --- |"
    for each in verdicts:
        wanted, limit = (
            value_text(value, each.target.unit) for value in (each.target.target, each.target.limit)
        )
        figure = value_text(each.value, each.target.unit)
        yield f"| {each.target.name} | {figure} | {wanted} | {limit} | {each.words} |"
    for measure, title in _MEASURES.items():
        yield f"\n## {title}"
        for cases in results.groups.values():
            yield from _table(results, cases, measure)
    yield from _missing(results)


def _table(results: Results, cases: Sequence[str], measure: str) -> Iterator[str]:
    """Cases by subject; the other way round if only we have them."""
    subjects = [
        subject
        for subject in results.subjects(cases)
        if any(results.spread(subject, case, measure) for case in cases)
    ]
    cases = [case for case in cases if any(results.spread(s, case, measure) for s in subjects)]
    if not subjects:
        return
    if subjects == [OURS]:
        yield "\n| | ours |\n| --- | --- |"
        yield from (f"| {case} | {cell(results, (OURS, case), measure)} |" for case in cases)
        return
    yield f"\n| | {' | '.join(cases)} |\n| --- |{' --- |' * len(cases)}"
    for subject in subjects:
        cells = " | ".join(cell(results, (subject, case), measure) or "-" for case in cases)
        yield f"| {subject} | {cells} |"
    ratios = [results.beside_best_peer(case, measure) for case in cases]
    if not all(math.isnan(ratio) for ratio in ratios):
        cells = " | ".join(value_text(ratio, "") for ratio in ratios)
        yield f"| ours ÷ the least of the others' | {cells} |"


def _missing(results: Results) -> Iterator[str]:
    if not results.missing and not results.absent:
        return
    yield "\n## Not measured\n"
    yield "| who | what | why |\n| --- | --- | --- |"
    for subject, reason in results.absent.items():
        yield f"| {subject} | all of it | {_plain(reason)} |"
    for (subject, case), reason in results.missing.items():
        yield f"| {subject} | {case} | {_plain(reason)} |"


def _plain(reason: str) -> str:
    """Without what a table cannot hold."""
    return reason.replace("|", "/").replace("\n", " ")
