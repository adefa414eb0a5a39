"""Searching the files of a directory for a pattern.

A pattern comes from a model, so it runs in the ``regex`` package: with a time limit, and without
holding the interpreter while it looks.
"""

import time
from fnmatch import fnmatchcase
from typing import Final

import regex
import trio

from dsh.tools_files._confined import ConfinedDirectory, Entry, open_file
from dsh.tools_files._errors import FileToolsError
from dsh.tools_files._reading import is_binary, numbered_lines
from dsh.tools_jsonschema import pattern_problem

__all__ = ["matches"]

MAX_MATCHES: Final = 200
MAX_MATCH_CHARS: Final = 300
MAX_PATTERN_CHARS: Final = 1_000

MAX_SECONDS: Final = 20.0
"""How long one search may take."""


def matches(
    directory: ConfinedDirectory, pattern: str, path: str, *, glob: str, ignore_case: bool
) -> str:
    """One line ``path:line: text`` for each line that matches, with a notice where there are more.

    Raises:
      FileToolsError: the pattern is none, the search took too long, or there is no such directory.
    """
    compiled = _compiled(pattern, ignore_case=ignore_case)
    deadline = time.monotonic() + MAX_SECONDS
    found: list[str] = []
    skipped = 0
    for entry in directory.walk(path, recursive=True):
        trio.from_thread.check_cancelled()
        if entry.is_skipped:
            skipped += 1
        elif entry.is_file and (fnmatchcase(entry.name, glob) or fnmatchcase(entry.path, glob)):
            try:
                found += _in_file(entry, compiled, deadline, MAX_MATCHES + 1 - len(found))
            except UnsearchableError:
                skipped += 1
        if len(found) > MAX_MATCHES:
            notice = f"[only the first {MAX_MATCHES} matches are shown; narrow the search]"
            return "\n".join([*found[:MAX_MATCHES], notice])
    notices = [f"[not searched, binary or not readable: {skipped}]"] if skipped else []
    return "\n".join([*(found or ["[no line matches]"]), *notices])


class UnsearchableError(Exception):
    """A file whose lines are none, or not ours to read."""


def _compiled(pattern: str, *, ignore_case: bool) -> "regex.Pattern[str]":
    if len(pattern) > MAX_PATTERN_CHARS:
        raise FileToolsError(
            f"the pattern is longer than {MAX_PATTERN_CHARS} characters", code="INVALID_PATTERN"
        )
    problem = pattern_problem(pattern)
    if problem is not None:
        raise FileToolsError(f"the pattern {problem}", code="INVALID_PATTERN")
    return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)


def _in_file(entry: Entry, pattern: "regex.Pattern[str]", deadline: float, most: int) -> list[str]:
    try:
        file = open_file(entry.name, entry.directory_fd, entry.path)
    except FileToolsError as exc:
        raise UnsearchableError from exc
    found: list[str] = []
    with file:
        if is_binary(file):
            raise UnsearchableError
        for number, line, _ in numbered_lines(file):
            if _is_match(pattern, line, deadline):
                text = line if len(line) <= MAX_MATCH_CHARS else f"{line[:MAX_MATCH_CHARS]}…"
                found.append(f"{entry.shown}:{number}: {text}")
            if len(found) == most:
                break
    return found


def _is_match(pattern: "regex.Pattern[str]", line: str, deadline: float) -> bool:
    left = deadline - time.monotonic()
    try:
        if left > 0:
            return pattern.search(line, timeout=left, concurrent=True) is not None
    except TimeoutError:
        pass
    raise FileToolsError(
        f"the search took longer than {MAX_SECONDS:g} seconds; use a simpler pattern, or search "
        "a part of the directory",
        code="SEARCH_TIMEOUT",
    )
