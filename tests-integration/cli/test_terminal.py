"""What a run looks like on a terminal, read off a terminal emulator behind a real pty."""

import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Callable
from fcntl import ioctl
from typing import Any

import pyte
import pytest
from command import COMMAND, environment
from fake_endpoint import Body, FakeEndpoint, Reply
from openai_wire import answer

from dsh.agent import TextBlock, ToolCallBlock

LONGEST = 60.0
"""Seconds until a screen that does not come is given up."""


class Terminal:
    """`dsh` on a pty of that size, and the screen as a person would see it."""

    def __init__(self, *arguments: str, env: dict[str, str], width: int, height: int = 24) -> None:
        self._file, theirs = pty.openpty()
        self.screen = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self._set_size(width, height)
        env = {name: value for name, value in env.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env
        )
        os.close(theirs)

    def _set_size(self, width: int, height: int) -> None:
        ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def resize(self, width: int, height: int = 24) -> None:
        """Make the terminal another size, as a window manager would."""
        self._set_size(width, height)
        self.screen.resize(height, width)
        self.process.send_signal(signal.SIGWINCH)

    def press_ctrl_c(self) -> None:
        """The one that is typed into this terminal."""
        self.process.send_signal(signal.SIGINT)

    def read_until(self, seen: Callable[[str], object]) -> str:
        """Read on until the screen is as wanted, and return it."""
        while not seen(self.text):
            if not self._read():
                raise AssertionError(f"the command ended at\n{self.text}")
        return self.text

    def read_all(self) -> str:
        """Read to the end, and return the last screen."""
        while self._read():
            pass
        return self.text

    def _read(self) -> bool:
        ready, _, _ = select.select([self._file], [], [], LONGEST)
        assert ready, f"nothing for {LONGEST} s after\n{self.text}"
        try:
            data = os.read(self._file, 65536)
        except OSError:  # Linux says so when the last one with the terminal open has gone
            return False
        self.raw += data
        self._stream.feed(data)
        return bool(data)

    @property
    def text(self) -> str:
        """The screen without blank ends."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def close(self) -> int:
        """Wait for the command's end, and return its status."""
        status = self.process.wait(LONGEST)
        os.close(self._file)
        return status


def delegating(child: Reply) -> Callable[[Body], Any]:
    """Answers by what is asked: the parent delegates, *child* is what every child gets."""

    async def reply(body: Body) -> Reply:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return answer(TextBlock(text="There are 3."))
        if last["content"] == "How many?":
            return child
        arguments = json.dumps({"description": "count the files", "prompt": "How many?"})
        return answer(
            ToolCallBlock(id="c", name="subagent", arguments=arguments), finish="tool_calls"
        )

    return reply


@pytest.fixture
def open_terminal(endpoint: FakeEndpoint) -> Any:
    def make(*arguments: str, width: int = 100, **env: str) -> Terminal:
        found = {**environment(endpoint.url), "TERM": "xterm-256color", **env}
        return Terminal("run", "Count.", *arguments, env=found, width=width)

    return make


def rows(screen: str) -> list[str]:
    return [line for line in screen.splitlines() if line.startswith(("Count.", "└─"))]


def test_the_tree_is_drawn_while_the_run_goes_on(
    endpoint: FakeEndpoint, open_terminal: Any
) -> None:
    endpoint.answer = delegating(Reply(end="stall"))
    terminal: Terminal = open_terminal("--timeout", "20")
    live = terminal.read_until(lambda text: "└─ count the files" in text)
    assert re.search(r"Count\. +spawn +calls subagent +1 +1 ", live)
    assert re.search(r"└─ count the files +spawn +thinking +0 +0 ", live)
    terminal.press_ctrl_c()
    terminal.read_all()
    assert terminal.close() == 130


def test_the_answer_stands_below_the_finished_tree(
    endpoint: FakeEndpoint, open_terminal: Any
) -> None:
    endpoint.answer = delegating(answer(TextBlock(text="3")))
    terminal: Terminal = open_terminal()
    screen = terminal.read_all()
    assert terminal.close() == 0
    assert len(rows(screen)) == 2, screen
    assert re.search(r"└─ count the files +spawn +completed +1 +1 ", screen)
    assert "\nThere are 3.\n" in screen
    assert terminal.raw.count(b"\x1b[?25l") == terminal.raw.count(b"\x1b[?25h")


def test_ctrl_c_shows_what_was_cancelled(endpoint: FakeEndpoint, open_terminal: Any) -> None:
    endpoint.answer = delegating(Reply(end="stall"))
    terminal: Terminal = open_terminal()
    terminal.read_until(lambda text: "count the files" in text)
    terminal.press_ctrl_c()
    screen = terminal.read_all()
    assert terminal.close() == 130
    assert [row.split()[-4] for row in rows(screen)] == ["aborted"] * 2, screen
    assert "dsh: cancelled: Count.; count the files" in screen


@pytest.mark.parametrize("width", [30, 60])
def test_a_narrow_terminal_gets_the_tree_without_the_counts(
    width: int, endpoint: FakeEndpoint, open_terminal: Any
) -> None:
    endpoint.answer = delegating(answer(TextBlock(text="3")))
    terminal: Terminal = open_terminal(width=width)
    screen = terminal.read_all()
    assert terminal.close() == 0
    assert [row.split()[-2] for row in rows(screen)] == ["completed"] * 2, screen


def test_a_terminal_made_narrower_gets_the_tree_in_its_new_width(
    endpoint: FakeEndpoint, open_terminal: Any
) -> None:
    endpoint.answer = delegating(Reply(end="stall"))
    terminal: Terminal = open_terminal(width=120)
    terminal.read_until(lambda text: "count the files" in text)
    terminal.resize(44)
    seen = len(terminal.raw)
    terminal.read_until(lambda _: b"count the files" in terminal.raw[seen:])
    terminal.press_ctrl_c()
    screen = terminal.read_all()
    assert terminal.close() == 130
    last = [row for row in rows(screen) if "aborted" in row]
    assert len(last) == 2, screen
    assert all(len(row) <= 44 for row in last)


def test_without_colour_the_same_is_said_without_it(
    endpoint: FakeEndpoint, open_terminal: Any
) -> None:
    endpoint.answer = delegating(answer(TextBlock(text="3")))
    terminal: Terminal = open_terminal(NO_COLOR="1")
    screen = terminal.read_all()
    assert terminal.close() == 0
    assert len(rows(screen)) == 2
    assert not re.search(rb"\x1b\[[0-9;]*(3[0-7]|38)[0-9;]*m", terminal.raw)


def test_a_terminal_that_cannot_draw_gets_lines(endpoint: FakeEndpoint, open_terminal: Any) -> None:
    endpoint.answer = delegating(answer(TextBlock(text="3")))
    terminal: Terminal = open_terminal(TERM="dumb")
    screen = terminal.read_all()
    assert terminal.close() == 0
    assert "count the files [spawn]: completed" in screen
    assert b"\x1b" not in terminal.raw
