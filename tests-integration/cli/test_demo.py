"""`dsh demo`: real parts, and only the model's turns from a recording."""

import re
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest
from command import Dsh

import draw_demo
from dsh.cli import _demo, main

DEMO = Path(_demo.__file__).with_name("demo")
README = Path(__file__).parents[2] / "README.md"
CALLS = len((DEMO / "recording.jsonl").read_bytes().splitlines()) - 1
"""How many turns of the model are recorded; the first line is a header."""


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The demo's material, to be changed."""
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy)
    monkeypatch.setattr(_demo, "material", lambda: nullcontext(copy))
    return copy


def test_three_kinds_of_children_do_their_part_and_what_each_returned_is_shown(dsh: Dsh) -> None:
    ended = dsh("demo", "--json")
    (root,) = ended.json["tree"]
    kinds = [(child["provider"], child["stop_reason"]) for child in root["children"]]
    assert (ended.status, kinds) == (
        0,
        [("spawn", "completed"), ("fork", "completed"), ("spawn", "completed")],
    )
    told = dsh("demo")
    assert all(child["text"] in told.out for child in root["children"])


def test_the_model_that_was_recorded_is_said_first(dsh: Dsh) -> None:
    assert dsh("demo").err.startswith((DEMO / "about.txt").read_text())


def test_the_demo_asks_nobody(dsh: Dsh, endpoint: object) -> None:
    assert dsh("demo").status == 0
    assert getattr(endpoint, "requests") == []  # noqa: B009


@pytest.mark.parametrize("number", range(CALLS))
def test_without_one_of_the_models_turns_the_demo_fails(
    number: int, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = demo / "recording.jsonl"
    header, *calls = recording.read_bytes().splitlines(keepends=True)
    recording.write_bytes(header + b"".join(calls[:number] + calls[number + 1 :]))
    assert main(["demo"]) in (1, 2)
    assert "recording.jsonl" in capsys.readouterr().err


def test_the_files_are_real_so_that_another_file_is_another_request(
    demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = demo / "project" / "notes.txt"
    notes.write_text(notes.read_text().replace("tomatoes", "lemons"))
    assert main(["demo"]) == 1
    assert "recording.jsonl" in capsys.readouterr().err


def test_the_logs_of_the_demo_are_kept_like_those_of_a_run(dsh: Dsh, tmp_path: Path) -> None:
    assert dsh("demo", "--log", str(tmp_path)).status == 0
    assert dsh("check", str(tmp_path)).out.count("ok ") == 4
    assert "fork" in dsh("show", str(tmp_path)).out


def test_the_words_in_the_readme_are_those_of_the_demo(dsh: Dsh) -> None:
    told = dsh("demo")
    said = {_timeless(line) for line in f"{told.err}\n{told.out}".splitlines()}
    quoted = README.read_text(encoding="utf-8").partition("$ scripts/dsh demo\n")[2]
    lines = quoted.partition("\n```")[0].splitlines()
    assert [line for line in lines if line != "..." and _timeless(line) not in said] == []


def _timeless(line: str) -> str:
    return re.sub(r"[0-9.]+ s\)$", "s)", line)


def test_the_picture_in_the_readme_is_what_the_demo_shows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert draw_demo.picture() == draw_demo.PICTURE.read_text(encoding="utf-8"), (
        "run scripts/draw_demo.py"
    )
