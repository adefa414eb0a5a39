"""The guard fails on a regression of what has no noise or is a ratio, and on nothing else."""

import json
from pathlib import Path

import pytest
from benchmarks.harness import Sample
from benchmarks.results import FLOOR, OURS, Key, Results
from benchmarks.worker import NotMeasured

import bench_guard


def a_run(*, slower: dict[Key, float] | None = None, objects: float = 100.0) -> Results:
    keys = [key for pair in bench_guard.RATIOS.values() for key in pair]
    costs = slower or {}
    taken: dict[Key, dict[int, Sample]] = {key: {1: {"cpu": costs.get(key, 1.0)}} for key in keys}
    taken[OURS, "live child"] = {0: {"kilobytes": 18.0, "objects": objects}}
    return Results(samples=taken)


def counts(module: str, case: str) -> int:
    return 100 if module == "benchmarks.floor" else 300


def count_more(module: str, case: str) -> int:
    return 100 if module == "benchmarks.floor" else 400


def count_nothing(module: str, case: str) -> int:
    raise NotMeasured("no valgrind on PATH")


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.json"
    assert bench_guard.main(["--record"], run=a_run, count=counts, path=path) == 0
    return path


def test_the_same_figures_again_pass(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(recorded.read_text())["tracked objects per live child"] == 100
    assert bench_guard.main([], run=a_run, count=counts, path=recorded) == 0
    assert "nothing grew by more than a quarter" in capsys.readouterr().out


def test_a_ratio_that_grew_by_more_than_a_quarter_fails(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = a_run(slower={(OURS, "fan-out of 1,000"): 1.26})
    assert bench_guard.main([], run=lambda: slow, count=counts, path=recorded) == 1
    assert "fan-out of 1,000 ÷ floor: 1.26, 1.26 times the recorded" in capsys.readouterr().out
    fair = a_run(slower={(OURS, "fan-out of 1,000"): 1.24})
    assert bench_guard.main([], run=lambda: fair, count=counts, path=recorded) == 0


def test_a_machine_that_is_slower_for_all_passes(recorded: Path) -> None:
    slow = a_run(slower={key: 9.0 for pair in bench_guard.RATIOS.values() for key in pair})
    assert bench_guard.main([], run=lambda: slow, count=counts, path=recorded) == 0


def test_more_tracked_objects_per_live_child_fail(recorded: Path) -> None:
    assert bench_guard.main([], run=lambda: a_run(objects=126), count=counts, path=recorded) == 1


def test_more_instructions_fail(recorded: Path) -> None:
    assert bench_guard.main([], run=a_run, count=count_more, path=recorded) == 1


def test_without_valgrind_the_rest_is_compared_and_that_is_said(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench_guard.main([], run=a_run, count=count_nothing, path=recorded) == 0
    assert "instructions are not compared: no valgrind on PATH" in capsys.readouterr().out


def test_a_figure_that_is_no_longer_measured_fails(recorded: Path) -> None:
    gone = a_run()
    del gone.samples[FLOOR, "cancel of 1,000"]
    assert bench_guard.main([], run=lambda: gone, count=counts, path=recorded) == 1


def test_a_record_without_every_figure_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    assert bench_guard.main(["--record"], run=a_run, count=count_nothing, path=path) == 1
    assert not path.exists()


def test_what_is_recorded_here_is_what_is_compared() -> None:
    recorded = json.loads(bench_guard.RECORDED.read_text())
    assert set(recorded) == {*bench_guard.figures(Results()), *bench_guard.COUNTED}
