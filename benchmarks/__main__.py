"""``python -m benchmarks``: run benchmarks, print their figures, fail beyond a limit."""

import argparse
import json
import math
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks import acp, children, delegate, floor, http, listeners, log, peer, start, turns
from benchmarks.harness import Benchmark, Figure

BENCHMARKS: Final[tuple[Benchmark, ...]] = (
    acp.BENCHMARK,
    children.BENCHMARK,
    delegate.BENCHMARK,
    floor.BENCHMARK,
    http.BENCHMARK,
    listeners.BENCHMARK,
    log.BENCHMARK,
    peer.BENCHMARK,
    start.BENCHMARK,
    turns.BENCHMARK,
)


def main(
    arguments: Sequence[str] | None = None, *, benchmarks: Sequence[Benchmark] = BENCHMARKS
) -> int:
    """Run the named benchmarks, or all; returns 1 if a figure is beyond its limit."""
    known = {benchmark.name: benchmark for benchmark in benchmarks}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--rounds", type=int, default=7, help="samples per case (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    options = parser.parse_args(arguments)
    names: list[str] = options.names or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(known)}")
    if os.environ.get("PYTHONDONTWRITEBYTECODE"):
        print("warning: PYTHONDONTWRITEBYTECODE is set, imports cost more than usual")
    results: dict[str, list[Figure]] = {}
    for name in names:
        print(f"{name}: {known[name].about}")
        results[name] = list(known[name].run(options.rounds))
        for figure in results[name]:
            print(_line(figure))
    if options.json is not None:
        report = {name: [_record(figure) for figure in each] for name, each in results.items()}
        options.json.write_text(json.dumps({"python": platform.python_version(), **report}))
    beyond = [figure for figures in results.values() for figure in figures if not figure.within]
    return 1 if beyond else 0


def _record(figure: Figure) -> Mapping[str, object]:
    """As JSON, which has no NaN."""
    return asdict(figure) | {"value": None if math.isnan(figure.value) else figure.value}


def _line(figure: Figure) -> str:
    if math.isnan(figure.value):
        return f"  {figure.name}: not measured"
    text = f"  {figure.name:<48} {figure.value:>10,.2f} {figure.unit}"
    if figure.limit is None:
        return text.rstrip()
    return f"{text:<64} {'ok' if figure.within else 'BEYOND'} (limit {figure.limit:g})"


if __name__ == "__main__":
    sys.exit(main())
