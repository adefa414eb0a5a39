"""``python -m benchmarks``: measure us, the floor and the peers, and judge the figures.

Prints them as a table, leaves them as JSON and as a plot in build/benchmarks/, and fails if one of
ours is beyond its limit or could not be measured.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final, cast

from benchmarks.groups import GROUPS, Group
from benchmarks.machine import machine, versions
from benchmarks.page import Run, page
from benchmarks.results import Results
from benchmarks.rounds import Limits, measure
from benchmarks.table import as_json, case_lines, target_lines
from benchmarks.targets import Verdict, judged
from benchmarks.worker import ROOT

__all__ = ["main"]

OUTPUT: Final = ROOT / "build" / "benchmarks"
DOCS: Final = ROOT / "docs"
ROUNDS: Final = 5
COMMAND: Final = "uv run --group bench python -m benchmarks"


def main(
    arguments: Sequence[str] | None = None,
    *,
    groups: Sequence[Group] = GROUPS,
    output: Path = OUTPUT,
    docs: Path = DOCS,
) -> int:
    """Measure the named groups, or all; returns 1 when a figure of ours blocks or is missing."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(groups).parse_args(given)
    known = {group.name: group for group in groups}
    if unknown := [name for name in options.names if name not in known]:
        _parser(groups).error(f"no {', '.join(unknown)}; there are {', '.join(known)}")
    if options.names and options.write_docs:
        _parser(groups).error("the page shows all groups: name none")
    draw = _drawer()
    if options.write_docs and draw is None:
        _parser(groups).error(f"the page has a plot, which takes matplotlib: {COMMAND}")
    began, at, on = time.monotonic(), datetime.now(UTC), machine()
    results = measure(
        [known[name] for name in options.names or known], Limits(rounds=options.rounds)
    )
    run = Run(
        date=f"{at:%Y-%m-%d}",
        minutes=(time.monotonic() - began) / 60,
        command=" ".join([COMMAND, *given]),
        machine=on,
        versions=versions(),
    )
    verdicts = judged(results)
    print("\n".join((*case_lines(results), *target_lines(verdicts))))
    print(f"\n{run.date}, {run.minutes:.1f} minutes, {run.machine}")
    output.mkdir(parents=True, exist_ok=True)
    report = {**asdict(run), **as_json(results, verdicts)}
    (output / "benchmarks.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    if options.write_docs:
        text = page(run, results, verdicts, plot="performance.svg")
        (docs / "performance.md").write_text(text, encoding="utf-8")
    if draw is None:
        print(f"no plot, which takes matplotlib: {COMMAND}")
    else:
        draw(results, (docs if options.write_docs else output) / "performance.svg")
    failures = _failures(results, verdicts)
    print("\n".join(("", *failures)))
    return 1 if failures else 0


def _failures(results: Results, verdicts: Sequence[Verdict]) -> list[str]:
    return [
        *(f"not measured: {reason}" for reason in results.unmeasured()),
        *(f"beyond its limit: {each.target.name}" for each in verdicts if each.blocks),
    ]


def _drawer() -> Callable[[Results, Path], None] | None:
    """What draws, loaded before the run that is long; none without matplotlib."""
    if find_spec("matplotlib") is None:
        return None
    return cast("Callable[[Results, Path], None]", import_module("benchmarks.plot").draw)


def _parser(groups: Sequence[Group]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = ", ".join(group.name for group in groups)
    parser.add_argument("names", nargs="*", metavar="GROUP", help=f"of {names}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="at most so many (default: 5)")
    parser.add_argument("--write-docs", action="store_true", help="write docs/performance.md anew")
    return parser


if __name__ == "__main__":
    sys.exit(main())
