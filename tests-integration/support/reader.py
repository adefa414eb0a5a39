"""Somebody who follows a page to the letter: writes its files, types its commands, reads on.

A page names a file in the line before its text, as ``Now `host.py`:``. A ``console`` block has a
command after each ``$`` and below it what it prints.
"""

import os
import re
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_STEP: Final = re.compile(
    r"(?:`(?P<file>[\w.]+)`:\n\n(?:<!--[^\n]*-->\n)?```python\n(?P<text>.*?)"
    r"|```console\n(?P<commands>.*?))^```$",
    re.MULTILINE | re.DOTALL,
)
_VARYING: Final = (
    (re.compile(r"\b[0-9a-f]{32}\b"), "ID"),
    (re.compile(r" +\d+\.\d$", re.MULTILINE), " SECONDS"),
    (re.compile(r" passed in \d+\.\d+s$", re.MULTILINE), " passed in SECONDS"),
)
_END: Final = "-- the end of it --"
OURS: Final = ("PYTHON", "VIRTUAL_ENV", "COVERAGE")
"""How variables begin that a reader's environment would not have."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """A line to type, and what it prints."""

    line: str
    prints: str


def steps(page: str) -> Generator[tuple[str, str] | Command]:
    """Yield the files (name and text) and the commands, in the order of the page."""
    for step in _STEP.finditer(page):
        if step["file"]:
            yield step["file"], step["text"]
        else:
            for typed in re.split(r"^\$ ", step["commands"], flags=re.MULTILINE)[1:]:
                line, _, prints = typed.partition("\n")
                yield Command(line=line, prints=prints)


class Reader:
    """A directory and one shell."""

    def __init__(self, directory: Path, shell: "subprocess.Popen[str]") -> None:
        self.directory = directory
        self._shell = shell

    def type(self, line: str) -> str:
        """Run *line* and return what it prints; it must succeed."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f'{line}\nprintf "\\n%s %s\\n" "$?" "{_END}"\n')
        self._shell.stdin.flush()
        printed = ""
        while not printed.endswith(f" {_END}\n"):
            read = self._shell.stdout.readline()
            assert read, f"the shell has ended after {line!r}: {printed}"
            printed += read
        text, _, status = printed.removesuffix(f" {_END}\n").rpartition("\n")
        assert status == "0", f"{line!r} ended with {status}: {text}"
        return text

    def follow(self, page: str) -> list[str]:
        """Do what *page* says, compare what is printed, and return the commands."""
        typed: list[str] = []
        for step in steps(page):
            if isinstance(step, Command):
                assert comparable(self.type(step.line)) == comparable(step.prints), step.line
                typed.append(step.line)
            else:
                name, text = step
                (self.directory / name).write_text(text, encoding="utf-8")
        return typed


@contextmanager
def reading(directory: Path, **variables: str) -> Generator[Reader]:
    """A reader in an empty *directory*, whose environment has these *variables* as well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with subprocess.Popen(
        ["sh"],
        cwd=directory,
        env=kept | {"COLUMNS": "80"} | variables,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as shell:
        yield Reader(directory, shell)
        assert shell.stdin is not None
        shell.stdin.close()


def comparable(printed: str) -> list[str]:
    """The lines of *printed* without random ids and measured times.

    Lines that begin with a random name stand in the order of these names; here they are sorted.
    """
    for pattern, word in _VARYING:
        printed = pattern.sub(word, printed)
    lines = printed.splitlines()
    return sorted(lines) if all(line.startswith("ok   ID") for line in lines) else lines


def programs_of(python: Path) -> Mapping[str, str]:
    """Variables that make *python*, and what is installed beside it, the programs of a reader."""
    path = os.pathsep.join((str(python.parent), os.environ["PATH"]))
    return {"PATH": path, "PYTHONWARNINGS": "error"}
