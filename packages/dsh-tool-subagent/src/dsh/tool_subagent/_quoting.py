"""A child's text as data: it cannot pass for words of ours, nor do anything to a terminal."""

import re
from typing import Final

__all__ = ["quoted"]

MARKERS: Final = ("context", "steering", "partial_output", "truncated", "system-reminder")
"""Names of tags that mark words of the harness in what a model reads: those of ``dsh.agent``, of
this package, and one that models are widely trained to obey."""

_MARKER: Final = re.compile(rf"<(?=\s*/?\s*(?:{'|'.join(MARKERS)})\b)", re.IGNORECASE)
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""Control characters but tab and line feed, and those that reorder or break lines unseen."""


def quoted(text: str) -> str:
    """*text* with our markers disarmed and what cannot be seen spelt out.

    The opening bracket of a marker becomes ``&lt;``, a control character its JSON escape, so that
    what is JSON stays JSON. Everything else stays as it is.
    """
    text = text.replace("\r\n", "\n")
    return _UNSEEN.sub(_escaped, _MARKER.sub("&lt;", text))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
