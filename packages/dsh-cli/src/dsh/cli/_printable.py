"""Text for people: models' words are data and must not steer a terminal; numbers have nouns."""

import re
from typing import Final, TextIO

__all__ = ["counted", "on_one_line", "printable", "written"]

_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but tab and line feed, those that reorder text unseen, and halves of
characters, which no output can be encoded from."""


def printable(text: str) -> str:
    """*text* with everything that is not seen spelt out as Python would."""
    return _UNSEEN.sub(_escaped, text.replace("\r\n", "\n"))


def counted(number: int, noun: str) -> str:
    """*number* of what *noun* calls one of, such as ``1 token`` and ``2,000 tokens``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def on_one_line(text: str) -> str:
    """*text* as `printable` has it, line breaks and runs of blanks as one blank."""
    return printable(" ".join(text.split()))


def written(stream: TextIO, text: str) -> None:
    """Write *text*: as `printable` has it on a terminal, as it is elsewhere.

    What the stream's encoding has no bytes for is spelt out.
    """
    encoding = stream.encoding or "utf-8"
    text = printable(text) if stream.isatty() else text
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")
