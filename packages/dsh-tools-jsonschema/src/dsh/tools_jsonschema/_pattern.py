"""The `pattern` keyword: matching that a hostile pattern cannot make endless.

A regular expression may take time exponential in the length of the string. The `regex` package
can be told to give up, which `re` cannot. One match has a limit of its own, and all matches of
one validated value share a second one, so that a thousand slow strings do not add up.
"""

from __future__ import annotations

import re
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from regex import Pattern

MATCH_SECONDS: Final = 0.25
"""The longest one string may take to match one pattern, in seconds of CPU time."""

VALUE_SECONDS: Final = 1.0
"""The longest all matches of one value may take together, in seconds of CPU time."""

_LONGEST_PATTERN: Final = 10_000
"""The most characters of a pattern, and the most once its repetitions are written out."""

_PIECE = re.compile(
    r"\\.|\[\^?\]?[^\]\\]*+(?:\\.[^\]\\]*+)*+\]|\(\?#[^)]*+\)"
    r"|\{\s*+0*+(?P<count>\d{0,9})[^{}]*+\}|.",
    re.DOTALL,
)
"""An escape, a set, a comment, a repetition by its least count, or any other character."""

_seconds_left: ContextVar[list[float]] = ContextVar("seconds_left")


def pattern_problem(pattern: str) -> str | None:
    """Return why *pattern* is no regular expression to be compiled; `None` when it is one.

    For patterns from strangers, which may be too large once compiled. The dialect is that of the
    `regex` package; matching still needs a time limit.
    """
    import regex  # costs 15 ms, and few schemas have a pattern

    if len(pattern) > _LONGEST_PATTERN:
        return f"has {len(pattern)} characters, at most {_LONGEST_PATTERN} are accepted"
    if (length := _written_out(pattern)) > _LONGEST_PATTERN:
        most = f"at most {_LONGEST_PATTERN} are accepted"
        return f"has about {length:.4g} characters once its repetitions are written out, {most}"
    try:
        regex.compile(pattern)
    except regex.error as error:
        return f"is no regular expression: {error}"
    except (RecursionError, OverflowError, MemoryError) as error:
        return f"is too complex a regular expression ({type(error).__name__})"
    return None


def _written_out(pattern: str) -> int:
    """Return about how long *pattern* is with ``a{3}`` spelt ``aaa``, as its matcher holds it.

    A dozen characters can ask for a matcher larger than the memory: ``((a{999}){999}){999}``.
    """
    groups = [[0, 0]]  # for each open group: what lies before its last piece, and that piece
    for piece in _PIECE.finditer(pattern):
        before, last = groups[-1]
        if piece["count"]:
            groups[-1][1] = last * int(piece["count"])
        elif piece[0] == "(":
            groups.append([0, 0])
        elif piece[0] == ")" and len(groups) > 1:
            group = sum(groups.pop())
            groups[-1] = [sum(groups[-1]), group + 2]
        else:
            groups[-1] = [before + last, len(piece[0])]
    return sum(map(sum, groups))


def compiled_pattern(pattern: str) -> Pattern[str]:
    """Return the matcher of a pattern that has no problem."""
    import regex  # see pattern_problem

    return regex.compile(pattern)


@final
class PatternBudget:
    """Gives the matches inside its block one time budget together: those of one value."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _seconds_left.set([VALUE_SECONDS])

    def __exit__(self, *exc: object) -> None:
        _seconds_left.reset(self._token)


def match_problem(pattern: Pattern[str], text: str) -> str | None:
    """Return why *text* does not match, or was given up on; `None` when it matches."""
    budget = _seconds_left.get()
    if budget[0] <= 0:
        return f"was not matched: the patterns of one value may take {VALUE_SECONDS} s together"
    limit = min(MATCH_SECONDS, budget[0])
    begun = time.process_time()
    try:
        found = pattern.search(text, timeout=limit)
    except TimeoutError:
        return f"took longer than {limit:.2g} s to match"
    finally:
        budget[0] -= time.process_time() - begun
    return None if found else "does not match"
