"""A case is measured in a process of its own, and what goes wrong there is why it has no figure."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.environments import environment
from benchmarks.worker import NotMeasured, Worker

SUPPORT = Path(__file__).with_name("support")


def worker(module: str = "planted_cases") -> Worker:
    return Worker(Path(sys.executable), module, variables={"PYTHONPATH": str(SUPPORT)})


@pytest.fixture
def planted() -> Iterator[Worker]:
    planted = worker()
    yield planted
    planted.close()


def test_a_worker_says_what_it_can_measure_and_what_it_cannot(planted: Worker) -> None:
    assert planted.cases["cheap"] is None
    assert planted.cases["has not"] == "has no schema"


def test_what_a_case_prints_is_not_taken_for_its_figures(planted: Worker) -> None:
    assert planted.ask("chatters", seconds=30) == {"cpu": 2.0, "wall": 3.0}
    assert planted.ask("cheap", seconds=30) == {"cpu": 1.0, "wall": 1.0}


def test_a_case_that_fails_leaves_its_worker_usable(planted: Worker) -> None:
    with pytest.raises(NotMeasured, match=r"^fails: ValueError: no such model$"):
        planted.ask("fails", seconds=30)
    assert planted.ask("cheap", seconds=30)["cpu"] == 1.0


def test_a_case_that_takes_too_long_is_ended(planted: Worker) -> None:
    with pytest.raises(NotMeasured, match=r"^over 0\.1 s$"):
        planted.ask("hangs", seconds=0.1)
    assert planted.ended


def test_a_worker_that_ends_says_its_last_words(planted: Worker) -> None:
    with pytest.raises(NotMeasured, match=r"^fails: last words$"):
        planted.ask("exits", seconds=30)
    assert planted.ended


def test_a_worker_has_compiled_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    started = worker()
    assert started.ask("bytecode", seconds=30) == {"off": 0.0}
    started.close()


def test_a_module_that_cannot_be_imported_is_not_measured() -> None:
    with pytest.raises(NotMeasured, match="No module named 'nothing'"):
        worker("nothing")


def test_a_peer_that_cannot_be_installed_is_not_measured(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    with pytest.raises(NotMeasured, match="cannot be installed"):
        environment("fake", "1", uv=str(uv), under=tmp_path)
    uv.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    uv.chmod(0o755)
    with pytest.raises(NotMeasured, match="cannot be installed: no such package"):
        environment("fake", "1", uv=str(uv), under=tmp_path)


def test_an_environment_that_is_made_is_found_without_uv(tmp_path: Path) -> None:
    (tmp_path / "fake-1").mkdir()
    (tmp_path / "fake-1" / "installed").touch()
    missing = str(tmp_path / "no uv")
    assert environment("fake", "1", uv=missing, under=tmp_path) == tmp_path / "fake-1/bin/python"
