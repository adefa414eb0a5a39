"""Standard streams that are closed, full, or have few characters."""

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh.cli import main

DSH = f'dsh() {{ {shlex.quote(sys.executable)} -m dsh.cli "$@"; }}'


def shell(words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which ``dsh`` is the command."""
    given = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        ["sh", "-c", f"{DSH}; {words}"],
        env=given | {"PYTHONPATH": os.pathsep.join(sys.path)} | env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("dsh models >&-", 2, "dsh: standard output is closed"),
        ("dsh --help >&-", 2, "dsh: standard output is closed"),
        ("dsh models >/dev/full", 1, "dsh models: cannot write any more: No space left on device"),
        ("dsh run <&-", 2, "dsh run: PROMPT: is empty"),
        ("dsh models | true", 0, ""),
    ],
)
def test_a_stream_that_cannot_be_used_is_told_in_one_line(
    words: str, status: int, said: str
) -> None:
    ended = shell(words)
    assert (ended.returncode, ended.stdout, ended.stderr.strip()) == (status, "", said)


def test_an_error_that_is_not_the_outputs_is_not_called_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def perform(options: object) -> int:
        raise FileNotFoundError(errno.ENOENT, "No such file", "gone")

    monkeypatch.setattr("dsh.cli._models.perform", perform)
    with pytest.raises(FileNotFoundError, match="gone"):
        main(["models"])
    assert capsys.readouterr() == ("", "")


def test_a_command_works_without_anywhere_to_complain() -> None:
    ended = shell("dsh models 2>&-")
    assert ended.returncode == 0
    assert "OPENAI_API_KEY" in ended.stdout
    assert shell("dsh run 2>&- </dev/null").returncode == 2


@pytest.mark.parametrize("stream", ["2>/dev/full", "2>&1 >&3 3>&- | true"])
def test_notes_that_nobody_takes_change_neither_the_answer_nor_the_status(
    stream: str, tmp_path: Path
) -> None:
    status = tmp_path / "status"
    logs, told = shlex.quote(str(tmp_path / "logs")), shlex.quote(str(status))
    ended = shell(f"exec 3>&1; (dsh demo --log {logs}; echo $? >{told}) {stream}")
    assert (status.read_text(), ended.stderr) == ("0\n", "")
    assert "12 litres per week" in ended.stdout
    assert main(["check", str(tmp_path / "logs")]) == 0


def test_a_refusal_that_nobody_reads_is_one_all_the_same() -> None:
    assert shell("dsh show nowhere 2>/dev/full").returncode == 2


def test_what_an_output_has_no_bytes_for_is_spelt_out(log: Any) -> None:
    directory: Path = log("a", log.turn("Zähle\N{HORIZONTAL ELLIPSIS}", "\N{SNOWMAN}"))
    ended = shell(f"dsh show {shlex.quote(str(directory))}", PYTHONIOENCODING="ascii", COLUMNS="80")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "Z\\xe4hle\\u2026" in ended.stdout
    assert "\\u2603" in ended.stdout
