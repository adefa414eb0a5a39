"""Ctrl-C, once and twice."""

import io
import os
import pty
import signal
import subprocess
import sys

import pytest

from dsh.cli import main

PROGRAM = """
import trio
from dsh.cli._interruption import interruptible

async def main():
    with interruptible(lambda: print("cancelled", flush=True)):
        print("ready", flush=True)
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()

trio.run(main)
"""


def test_the_first_ctrl_c_cancels_and_the_second_ends_what_does_not_end() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in (b"ready\n", b"cancelled\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130


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
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(["run"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out == ""
