"""Ctrl-C and SIGTERM, once and twice, and at moments when they can be lost."""

import io
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from dsh.cli import main

ENDPOINT = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:9"}

PROGRAM = """
import os
import sys
import trio
from dsh.cli._interruption import interruptible

async def main():
    with interruptible(lambda: os.write(1, b"cancelled\\n")):
        os.write(1, b"ready\\n")  # unlike print, which a handler that prints may not interrupt
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()

trio.run(main)
"""


@pytest.fixture(autouse=True)
def _interruptible() -> Generator[None]:
    """Let Ctrl-C interrupt what is started here, though a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("second", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_cancels_and_the_second_ends_what_does_not_end(
    first: signal.Signals, second: signal.Signals, status: int
) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(first)
        assert process.stdout.readline() == b"cancelled\n"
        process.send_signal(second)
        assert process.wait(60) == status


def test_the_second_ctrl_c_gives_a_terminal_its_cursor_back() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        assert process.stdout is not None
        for _ in range(2):
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert os.read(ours, 100) == b"\x1b[?25h"
    os.close(ours)
    os.close(theirs)


def test_ctrl_c_while_a_prompt_is_typed_ends_the_command_as_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Typing(io.StringIO):
        def read(self, size: int | None = -1, /) -> str:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError("nobody was interrupted")

    monkeypatch.setattr(sys, "stdin", Typing())
    assert main(["run"]) == 130
    assert capsys.readouterr().out == ""


SWALLOWING = """
import signal, sys

try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:  # as an extension module does that cannot raise it
    pass
print("imported", file=sys.stderr)
"""

IN_PLACE_OF_ANOTHER = """
sys.path.remove(__file__.rpartition("/")[0])
del sys.modules[__name__]
__import__(__name__)
"""
"""What it was found instead of is there afterwards."""


def started(*arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    """The command, ended, in a process that finds modules in *path* first and takes Ctrl-C."""
    return subprocess.run(
        [sys.executable, "-m", "dsh.cli", *arguments],
        env={**os.environ, "PYTHONPATH": str(path), **ENDPOINT},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_ctrl_c_that_an_import_of_the_command_swallows_ends_it_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "sniffio.py").write_text(SWALLOWING + IN_PLACE_OF_ANOTHER)
    for command in (["models"], ["run", "hi"]):
        ended = started(*command, path=tmp_path)
        assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "imported\n")


def test_ctrl_c_in_code_that_an_import_makes_of_a_string_has_the_same_status(
    tmp_path: Path,
) -> None:
    """Python notes such an interrupt apart, as whoever makes dataclasses runs into."""
    (tmp_path / "sniffio.py").write_text("exec('import signal; signal.raise_signal(2)')")
    ended = started("models", path=tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_ctrl_c_that_the_import_of_a_schema_swallows_cancels_the_run_before_it_asks(
    tmp_path: Path,
) -> None:
    shape = "from pydantic import BaseModel\nclass Shape(BaseModel):\n    at: int\n"
    (tmp_path / "shape.py").write_text(SWALLOWING + shape)
    logs = tmp_path / "logs"
    ended = started(
        "run", "hi", "--output-schema", "shape:Shape", "--log", str(logs), path=tmp_path
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert "dsh: aborted: " in ended.stderr
    assert list(logs.iterdir()) == []


def test_ctrl_c_that_the_import_of_a_plugin_swallows_is_the_status_of_a_listing(
    tmp_path: Path,
) -> None:
    about = tmp_path / "swallowing-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: swallowing\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[dsh.subagent_providers]\nlast = swallowing\n")
    (tmp_path / "swallowing.py").write_text(SWALLOWING)
    ended = started("providers", path=tmp_path)
    assert (ended.returncode, ended.stderr) == (130, "imported\n")


def test_ctrl_c_stays_ignored_where_it_was_ignored_at_the_start() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                PROGRAM.replace("trio.sleep_forever()", "trio.to_thread.run_sync(sys.stdin.read)"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def test_ctrl_c_is_left_to_whom_it_belongs_in_another_thread() -> None:
    before = signal.getsignal(signal.SIGINT)
    statuses: list[int] = []
    thread = threading.Thread(target=lambda: statuses.append(main(["members"])))
    thread.start()
    thread.join()
    assert statuses == [0]
    assert signal.getsignal(signal.SIGINT) is before
