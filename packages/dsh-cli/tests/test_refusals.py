"""What cannot be meant is refused in one line, before anything is started."""

import errno
import io
import os
import pty
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh.agent import CustomEvent, TurnStarted
from dsh.cli import main

LONG = "x" * 300
"""Longer than any file system lets a name be."""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "COMMAND"),
        (["fly"], "'fly'"),
        (["run", "hi", "--frobnicate"], "--frobnicate"),
        (["run", "hi", "--max-depth", "-1"], "--max-depth: -1 is below 0"),
        (["run", "hi", "--max-children", "many"], "--max-children: invalid count value: 'many'"),
        (["run", "hi", "--max-depth", "9" * 30], "is above 1000000"),
        (["run", "hi", "--timeout", "0"], "--timeout: 0 is no positive number of seconds"),
        (["run", " "], "PROMPT: is empty"),
        (["run", "hi", "--model", "gpt"], "'gpt' is not like KIND:NAME"),
        (["run", "hi", "--model", "marvin:x"], "'marvin', which is not installed; installed:"),
        (["run", "hi", "--model", "replay:nowhere.jsonl"], "no recording 'nowhere.jsonl'"),
        (["run", "hi", "--model", "openai:x"], "OPENAI_API_KEY"),
        (["run", "hi", "--provider", "clone"], "no 'clone'; installed: acp, fork,"),
        (["run", "hi", "--provider", "spawn:x"], "only acp takes a name after a colon"),
        (["run", "hi", "--provider", "acp"], "which agent? acp:NAME, of codex, "),
        (["run", "hi", "--provider", "acp:nobody"], "neither a preset nor a program"),
        (["run", "hi", "--model", "openai:x", "--tools", "nowhere"], "'nowhere' is no directory"),
        (["run", "hi", "--output-schema", "nowhere"], "neither a file nor like module:Model"),
        (["run", "hi", "--output-schema", "nowhere:X"], "No module named 'nowhere'"),
        (["run", "hi", "--output-schema", "json:dumps"], "json:dumps is a function, not a type"),
        (["run", "hi", "--output-schema", "json:Nothing"], "no attribute 'Nothing'"),
        (["run", "hi", "--output-schema", "json:JSONDecoder"], "schema: Unable to generate"),
        (["show", "nowhere"], "'nowhere' is no directory"),
        (["check", "nowhere"], "'nowhere' is no directory"),
        (["show", LONG], "is no directory"),
        (["run", "hi", "--model", "openai:x", "--tools", LONG], "is no directory"),
        (["run", "hi", "--model", f"replay:{LONG}"], "there is no recording"),
        (["run", "hi", "--output-schema", LONG], "neither a file nor like module:Model"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    arguments: list[str], said: str, refused: Any
) -> None:
    assert said in refused(*arguments)


def test_a_prompt_is_not_waited_for_at_a_terminal(
    refused: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = pty.openpty()
    with open(ours, "rb"), open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        assert "PROMPT: is missing: give one, or pipe one in" in refused("run")


def test_without_a_model_and_without_a_key_the_ways_out_are_named(refused: Any) -> None:
    line = refused("run", "hi")
    ways = ("OPENAI_API_KEY", "--model", "replay:FILE", "dsh demo")
    assert all(way in line for way in ways)


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "cannot be read as JSON"),
        ('{"type": "object", "if": {}}', "unsupported output schema"),
        ("[]", "unsupported output schema"),
    ],
)
def test_a_schema_that_cannot_be_enforced_is_refused(
    schema: str, said: str, refused: Any, tmp_path: Path
) -> None:
    path = tmp_path / "schema.json"
    path.write_text(schema)
    assert said in refused("run", "hi", "--output-schema", str(path))


def test_a_module_that_ends_the_process_is_refused(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ends_the_process.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    line = refused("run", "hi", "--output-schema", "ends_the_process:Model")
    assert "ends_the_process:Model: SystemExit: 0" in line


def test_a_log_directory_that_cannot_be_made_is_refused_before_the_first_request(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    assert "logs cannot be kept in" in refused("run", "hi", "--log", str(tmp_path / "file"))


def test_a_directory_without_logs_is_refused(refused: Any, tmp_path: Path) -> None:
    assert "there are no logs" in refused("show", str(tmp_path))


def test_a_damaged_log_is_refused_by_show_and_found_by_check(
    refused: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("one", log.turn("hi", "ho"))
    path = logs / "one.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"seq":1', b'"seq":7'))
    assert "one.jsonl:3" in refused("show", str(logs))
    assert main(["check", str(logs)]) == 1
    assert "FAIL one.jsonl" in capsys.readouterr().out


def test_a_log_that_cannot_be_read_is_refused(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").mkdir()
    assert "one.jsonl cannot be read: it is no regular file" in refused("show", str(tmp_path))


def test_a_log_that_leads_nowhere_is_refused_by_show_and_found_by_check(
    refused: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("one", log.turn("hi", "ho"))
    (logs / "two.jsonl").symlink_to(logs / "gone")
    assert "two.jsonl cannot be read: No such file or directory" in refused("show", str(logs))
    assert main(["check", str(logs)]) == 1
    verdicts = capsys.readouterr().out.splitlines()
    assert [line[:4] for line in verdicts] == ["ok  ", "FAIL"]


def test_a_pipe_among_the_logs_is_not_waited_for(
    refused: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("one", log.turn("hi", "ho"))
    os.mkfifo(logs / "two.jsonl")
    assert "two.jsonl cannot be read: it is no regular file" in refused("show", str(logs))
    assert main(["check", str(logs)]) == 1
    verdicts = capsys.readouterr().out.splitlines()
    assert [line[:4] for line in verdicts] == ["ok  ", "FAIL"]


def test_a_time_that_no_clock_shows_is_refused_by_show_and_found_by_check(
    refused: Any, log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs: Path = log.directory
    for number, time in enumerate((10**400, -1)):
        log(f"log-{number}", [TurnStarted(turn=1, time=time)])
    assert "log-0.jsonl has a time that no clock shows" in refused("show", str(logs))
    assert main(["check", str(logs)]) == 1
    problem = "jsonl has a time that no clock shows"
    assert capsys.readouterr().out.splitlines() == [
        f"FAIL log-{number}.jsonl: {logs}/log-{number}.{problem}" for number in range(2)
    ]


def test_a_log_directory_that_may_not_be_read_is_not_called_empty(
    refused: Any, log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def listdir(_: object) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied")  # for root there is no such

    logs = str(log("one", log.turn("hi", "ho")))
    monkeypatch.setattr(os, "listdir", listdir)
    for command in ("show", "check"):
        assert f"LOGDIR: {logs!r} cannot be read: Permission denied" in refused(command, logs)


def test_a_prompt_that_is_no_text_is_refused(refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hi \xff"), encoding="utf-8"))
    assert "PROMPT: standard input is not utf-8: invalid start byte at byte 3" in refused("run")


def test_a_run_in_a_directory_that_was_removed_is_refused(
    refused: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert "the current directory: is not there" in refused("run", "hi")


def test_a_refusal_cannot_steer_the_terminal(refused: Any, log: Any) -> None:
    logs = str(log("one", log.turn("hi", "ho")))
    assert "no directory" in refused("show", "\x1b[2J")
    assert "\\x1b" in refused("show", f"{logs}\x1b[2J")
    (log.directory / "\x1b[31m.jsonl").write_bytes(b"{}\n")
    assert "\\x1b[31m.jsonl" in refused("show", logs)


def test_two_logs_of_one_session_are_refused_with_their_names(refused: Any, log: Any) -> None:
    logs = log("one", log.turn("hi", "ho"))
    (logs / "a copy.jsonl").write_bytes((logs / "one.jsonl").read_bytes())
    line = refused("show", str(logs))
    assert f"{logs}/a copy.jsonl and {logs}/one.jsonl are logs of the same session" in line


def test_a_session_that_is_not_there_is_refused_with_those_that_are(refused: Any, log: Any) -> None:
    logs = str(log("one", log.turn("hi", "ho")))
    assert "begins with 'two'; there are one" in refused("show", logs, "--session", "two")


def test_a_page_that_cannot_be_written_is_refused(refused: Any, log: Any) -> None:
    logs = log("one", log.turn("hi", "ho"))
    assert "cannot be written" in refused("show", str(logs), "--html", str(logs / "no" / "page"))


@pytest.mark.parametrize(
    "data",
    [None, 7, {}, {"child": "b"}, {"child": 7, "provider": "spawn", "label": None, "call": None}],
    ids=str,
)
@pytest.mark.parametrize("kind", ["dsh.cli/run-started", "dsh.cli/run-ended"])
def test_what_a_log_says_of_a_child_in_another_shape_is_refused(
    kind: str, data: Any, refused: Any, log: Any
) -> None:
    told = CustomEvent(kind=kind, data=data)
    directory = log("a", log.turn("Add them.", "3", told))
    assert "a.jsonl: what it says of a child cannot be read: data" in refused(
        "show", str(directory)
    )
