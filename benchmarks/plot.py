"""The run as a picture: everybody's cost per child by how many, and by how much they are given."""
# Checked without matplotlib, which only the group `bench` has.
# pyright: basic
# pyright: reportMissingImports=false

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from benchmarks.results import FLOOR, OURS, Results

__all__ = ["draw"]

_BARS: Final = (
    ("a delegation through the tool, CPU ms", "delegation", "cpu", 1e3),
    ("a live child, KB", "live child", "kilobytes", 1.0),
)
_LINES: Final = (
    (
        "children at once, CPU ms each",
        {100: "fan-out of 100", 1_000: "fan-out of 1,000", 10_000: "fan-out of 10,000"},
    ),
    (
        "a child given messages, CPU ms",
        {1_000: "child given 1,000 messages", 10_000: "child given 10,000 messages"},
    ),
)


def draw(results: Results, path: Path) -> None:
    """Write an SVG; the same figures give the same file."""
    style: Any = {"svg.hashsalt": "benchmarks", "svg.fonttype": "none", "font.size": 8}
    with mpl.rc_context(style):
        figure = Figure(figsize=(10, 7), layout="constrained")
        axes = figure.subplots(2, 2)
        subjects = _everybody(results)
        for panel, (title, case, measure, scale) in zip(axes[0], _BARS, strict=True):
            _bars(panel, results, subjects, case, measure, scale)
            panel.set_title(title)
        for panel, (title, sizes) in zip(axes[1], _LINES, strict=True):
            for subject in subjects:
                _line(panel, results, subject, sizes)
            panel.set(title=title, xscale="log", yscale="log")
        handles, labels = axes[1][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None})


def _everybody(results: Results) -> Sequence[str]:
    cases = [case for _, case, _, _ in _BARS] + [c for _, s in _LINES for c in s.values()]
    return results.subjects(cases)


def _color(subject: str, subjects: Sequence[str]) -> str:
    others = [each for each in subjects if each not in (OURS, FLOOR)]
    fixed = {OURS: "black", FLOOR: "0.6"}
    return fixed.get(subject) or f"C{others.index(subject)}"


def _bars(
    panel: Any, results: Results, subjects: Sequence[str], case: str, measure: str, scale: float
) -> None:
    spreads = {subject: results.spread(subject, case, measure) for subject in subjects}
    found = {subject: spread for subject, spread in spreads.items() if spread}
    panel.barh(
        list(found),
        [spread.median * scale for spread in found.values()],
        color=[_color(subject, subjects) for subject in found],
        xerr=[
            [(spread.median - spread.least) * scale for spread in found.values()],
            [(spread.most - spread.median) * scale for spread in found.values()],
        ],
    )
    panel.invert_yaxis()


def _line(panel: Any, results: Results, subject: str, sizes: dict[int, str]) -> None:
    spreads = {size: results.spread(subject, case) for size, case in sizes.items()}
    found = {size: spread.median * 1e3 for size, spread in spreads.items() if spread}
    if found:
        color = _color(subject, _everybody(results))
        panel.plot(list(found), list(found.values()), marker="o", label=subject, color=color)
