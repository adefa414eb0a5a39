"""The benchmarks run, report, and fail beyond a limit."""

import json
from pathlib import Path

import pytest
from benchmarks import floor, log
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.harness import Benchmark, Figure, Measured


def of(*figures: Figure) -> Benchmark:
    return Benchmark(name="fixed", about="fixed figures", run=lambda rounds: figures)


def test_a_figure_beyond_its_limit_fails_the_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    beyond = of(
        Figure(name="slow", value=1.21, limit=1.2), Figure(name="context", value=9, unit="µs")
    )
    report = tmp_path / "report.json"
    assert main(["fixed", "--json", str(report)], benchmarks=[beyond]) == 1
    assert "BEYOND (limit 1.2)" in capsys.readouterr().out
    assert [each["value"] for each in json.loads(report.read_text())["fixed"]] == [1.21, 9]
    assert main([], benchmarks=[of(Figure(name="fast", value=1.2, limit=1.2))]) == 0


def test_an_unknown_name_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    known = ", ".join(each.name for each in BENCHMARKS)
    assert f"no benchmark named nothing; there are {known}" in capsys.readouterr().err


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    measured = Measured(samples={"a": [2.0, 8.0, 3.0], "b": [1.0, 2.0, 1.0]})
    assert measured.ratio("a", "b", limit=3).value == 3
    assert measured.median("a") == 3


def test_a_fork_of_a_long_log_keeps_as_little_as_one_of_a_short_log() -> None:
    figures = {figure.name: figure for figure in log.BENCHMARK.run(1)}
    assert figures["that ÷ what a fork of 10 keeps"].within
    assert figures["tracked objects per fork"].value < 15


def test_the_floor_counts_what_a_child_keeps() -> None:
    case = floor.floor_case(10)
    assert case() > 0
