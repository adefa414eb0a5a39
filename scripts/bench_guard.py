"""Fail when we cost more than recorded: a short run of the benchmarks, without the peers.

    .venv/bin/python scripts/bench_guard.py [--record]

Compares ratios to the floor, instructions ÷ the floor's, and tracked objects per live child with
`benchmarks/recorded.json`, and fails on any that grew by more than a quarter. Times are never
compared. ``--record`` writes that file anew, which a change of design may need.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where benchmarks/ is

from benchmarks.groups import Group
from benchmarks.instructions import instructions
from benchmarks.results import FLOOR, OURS, Key, Results
from benchmarks.rounds import Limits, measure
from benchmarks.worker import ROOT, NotMeasured

RECORDED: Final = ROOT / "benchmarks" / "recorded.json"
GROWTH: Final = 1.25
ROUNDS: Final = 7

GROUPS: Final = (
    Group(
        name="turns",
        about="turns and steps",
        modules={OURS: "benchmarks.turns"},
        only=("floor of 100", "one-step turn", "tool step"),
    ),
    Group(
        name="children",
        about="children, one by one and at once",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.delegate"},
        only=(
            "fan-out of 100",
            "delegation",
            "structured delegation",
            "child alone",
            "structured child",
            "child given 10,000 messages",
        ),
    ),
    Group(
        name="many",
        about="many children",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.children"},
        only=("fan-out of 1,000", "cancel of 1,000", "live child"),
    ),
)

_HUNDRED: Final[Key] = (FLOOR, "fan-out of 100")
RATIOS: Final[Mapping[str, tuple[Key, Key]]] = {
    "one-step turn ÷ floor": ((OURS, "one-step turn"), (OURS, "floor of 100")),
    "tool step ÷ floor": ((OURS, "tool step"), (OURS, "floor of 100")),
    "delegation ÷ floor": ((OURS, "delegation"), _HUNDRED),
    "child ÷ floor": ((OURS, "child alone"), _HUNDRED),
    "structured delegation ÷ delegation": (
        (OURS, "structured delegation"),
        (OURS, "delegation"),
    ),
    "structured child ÷ child": ((OURS, "structured child"), (OURS, "child alone")),
    "child given 10,000 messages ÷ child": (
        (OURS, "child given 10,000 messages"),
        (OURS, "child alone"),
    ),
    "fan-out of 1,000 ÷ floor": ((OURS, "fan-out of 1,000"), (FLOOR, "fan-out of 1,000")),
    "cancel of 1,000 ÷ floor": ((OURS, "cancel of 1,000"), (FLOOR, "cancel of 1,000")),
}
COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "instructions of 300 delegations ÷ 100 of the floor": ("benchmarks.delegate", "delegation"),
    "instructions of a fan-out of 100 ÷ the floor": ("benchmarks.children", "fan-out of 100"),
}

Count = Callable[[str, str], int]


def figures(results: Results) -> dict[str, float]:
    """The ratios and counts of a run; NaN is what it did not measure."""
    ratios = {name: results.ratio(*keys) for name, keys in RATIOS.items()}
    objects = results.median(OURS, "live child", "objects")
    return {**ratios, "tracked objects per live child": objects}


def counted(count: Count) -> dict[str, float]:
    """Instructions ÷ the floor's; none, and a word about it, where they cannot be counted."""
    try:
        floor = count("benchmarks.floor", "fan-out of 100")
        return {name: count(*case) / floor for name, case in COUNTED.items()}
    except NotMeasured as error:
        print(f"instructions are not compared: {error}")
        return {}


def regressions(
    now: Mapping[str, float], recorded: Mapping[str, float], *, skipped: Sequence[str] = ()
) -> list[str]:
    """Say which figures grew too much, and which were recorded and now are not measured."""
    found: list[str] = []
    for name, before in recorded.items():
        value = now.get(name, math.nan)
        if math.isnan(value):
            if name not in skipped:
                found.append(f"{name}: {before:.2f} recorded, now not measured")
        elif value > GROWTH * before:
            found.append(f"{name}: {value:.2f}, {value / before:.2f} times the recorded")
    return found


def main(
    arguments: Sequence[str] | None = None,
    *,
    run: Callable[[], Results] = lambda: measure(GROUPS, Limits(rounds=ROUNDS)),
    count: Count = instructions,
    path: Path = RECORDED,
) -> int:
    """Compare, or record; returns 1 on a regression."""
    parser = argparse.ArgumentParser(prog="scripts/bench_guard.py", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what is compared with anew")
    options = parser.parse_args(arguments)
    instructed = counted(count)
    now = {**figures(run()), **instructed}
    if options.record:
        if missing := [name for name in (*now, *COUNTED) if math.isnan(now.get(name, math.nan))]:
            print(f"nothing is recorded: not measured: {', '.join(missing)}")
            return 1
        path.write_text(json.dumps(now, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    recorded: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    for name, value in now.items():
        before = recorded.get(name, math.nan)
        print(f"{name:<52} {value:>8.2f}  recorded {before:>8.2f}  {value / before:.2f}")
    found = regressions(now, recorded, skipped=() if instructed else tuple(COUNTED))
    print("\n".join(found) or "nothing grew by more than a quarter")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
