"""A run as text: the cases by subject, what is missing, the targets; and as what JSON can hold."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from benchmarks.results import Key, Results
from benchmarks.targets import Verdict

__all__ = ["as_json", "case_lines", "cell", "target_lines", "value_text"]

MEASURES: Final = ("cpu", "wall", "kilobytes", "objects", "modules")


def cell(results: Results, key: Key, measure: str) -> str:
    """Median, spread and rounds: ``1.44 ms (1.40-1.61) n=5``; empty if there is none."""
    spread = results.spread(*key, measure)
    if spread is None:
        return ""
    scale, unit = _unit(spread.median) if measure in ("cpu", "wall") else (1.0, "")
    median, least, most = (_digits(v * scale) for v in (spread.median, spread.least, spread.most))
    figure = f"{median} {unit}".rstrip()
    return f"{figure} n=1" if spread.rounds == 1 else f"{figure} ({least}-{most}) n={spread.rounds}"


def _unit(seconds: float) -> tuple[float, str]:
    """The unit that suits a duration, and how many of it are a second."""
    return next(
        ((scale, unit) for scale, unit in ((1.0, "s"), (1e3, "ms")) if seconds * scale >= 1),
        (1e6, "µs"),
    )


def case_lines(results: Results) -> Iterator[str]:
    """Every figure and every reason why there is none."""
    for subject, reason in results.absent.items():
        yield f"{subject}: not measured: {reason}"
    for group, cases in results.groups.items():
        yield f"\n{group}"
        for case in cases:
            yield f"  {case}"
            for subject in results.subjects([case]):
                yield f"    {subject:<14} {_figures(results, (subject, case))}".rstrip()
            if ratios := _beside_best_peer(results, case):
                yield f"    ours ÷ the least of the others': {ratios}"


def target_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Every target with its figure and how it stands."""
    yield f"\n{'target':<52} {'figure':>10}    {'at most':>10}"
    for each in verdicts:
        wanted = value_text(each.target.target, each.target.unit)
        figure = value_text(each.value, each.target.unit)
        yield f"{each.target.name:<52} {figure:>10}    {wanted:>10}  {each.words}"


def value_text(value: float, unit: str) -> str:
    """A figure with its unit, if it has one."""
    return "-" if math.isnan(value) else f"{_digits(value)} {unit}".rstrip()


def as_json(results: Results, verdicts: Sequence[Verdict]) -> Mapping[str, object]:
    """Cases and targets; durations in seconds, NaN as null."""
    keys = [
        (group, case, subject)
        for group, cases in results.groups.items()
        for case in cases
        for subject in results.subjects([case])
    ]
    return {
        "absent": results.absent,
        "cases": [
            {"group": group, "case": case, "subject": subject} | _measures(results, (subject, case))
            for group, case, subject in keys
        ],
        "targets": [
            {
                "name": each.target.name,
                "value": None if math.isnan(each.value) else each.value,
                "unit": each.target.unit,
                "target": each.target.target,
                "limit": each.target.limit,
                "verdict": each.words,
            }
            for each in verdicts
        ],
    }


def _measures(results: Results, key: Key) -> dict[str, object]:
    if key in results.missing:
        return {"missing": results.missing[key]}
    spreads = ((measure, results.spread(*key, measure)) for measure in MEASURES)
    return {
        measure: {
            "median": spread.median,
            "least": spread.least,
            "most": spread.most,
            "rounds": spread.rounds,
        }
        for measure, spread in spreads
        if spread
    }


def _beside_best_peer(results: Results, case: str) -> str:
    ratios = {each: results.beside_best_peer(case, each) for each in ("cpu", "wall", "kilobytes")}
    return ", ".join(f"{k} {_digits(v)}" for k, v in ratios.items() if not math.isnan(v))


def _figures(results: Results, key: Key) -> str:
    if key in results.missing:
        return f"not measured: {results.missing[key]}"
    cells = ((measure, cell(results, key, measure)) for measure in MEASURES)
    return "  ".join(f"{measure} {text:<38}" for measure, text in cells if text)


def _digits(value: float) -> str:
    """Three digits that mean something, and no exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{min(places, 4)}f}"
