"""How a violation names a place and shows a value: unambiguous, spelt as JSON, bounded.

Nothing here trusts the object it is shown: a foreign object is named by its class, and no method
of it is ever called. Everything else in the package writes its messages through this module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from dsh.tools_jsonschema._plain import is_array, is_integer, is_object, is_string

QUOTE_LIMIT: Final = 200
"""The most characters of a schema or a value that one quotation shows."""

_PATH_SEGMENTS: Final = 240
_PATH_LIMIT: Final = 1_000
_PRINTABLE_BITS: Final = 600  # 181 digits: below any limit Python sets on printing integers

Segment: TypeAlias = str | int
"""One step of a path: the key of an object or the index of an array."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def path_text(root: str, segments: Sequence[Segment]) -> str:
    """Return the path as ``root.key[0]["odd key"]``, its middle left out when it is very long."""
    if len(segments) > _PATH_SEGMENTS:
        half = _PATH_SEGMENTS // 2
        head, tail = _joined(segments[:half]), _joined(segments[-half:])
    else:
        head, tail = _joined(segments), ""
    if len(head) + len(tail) > _PATH_LIMIT:
        both = head + tail
        head, tail = both[: _PATH_LIMIT // 2], both[-_PATH_LIMIT // 2 :]
    return f"{root}{head}…{tail}" if tail else f"{root}{head}"


def _joined(segments: Iterable[Segment]) -> str:
    return "".join(map(_segment_text, segments))


def _segment_text(segment: Segment) -> str:
    if isinstance(segment, int):
        return f"[{segment}]"
    if len(segment) <= QUOTE_LIMIT and _IDENTIFIER.fullmatch(segment):
        return f".{segment}"
    return f"[{_string_text(segment)}]"


def clipped(text: str) -> str:
    """Return *text*, cut to the limit of a quotation and marked when it was."""
    return text if len(text) <= QUOTE_LIMIT else f"{text[: QUOTE_LIMIT - 1]}…"


def listed(values: Iterable[object]) -> str:
    """Return JSON values as a comma-separated list, cut to the limit of a quotation."""
    shown: list[str] = []
    room = QUOTE_LIMIT
    for value in values:
        if room <= 0:
            break
        shown.append(shown_as_json(value))
        room -= len(shown[-1]) + 2
    return clipped(", ".join(shown))


def shown_as_json(value: object) -> str:
    """Return a JSON scalar as its text, a container by its size, a foreign object by its class."""
    kind = type(value)
    if is_string(value):
        return _string_text(value)
    if is_array(value):
        return f"an array of {counted(len(value), 'item')}"
    if is_object(value):
        return f"an object of {counted(len(value), 'key')}"
    if is_integer(value):
        return _integer_text(value)
    if value is None or kind is bool or kind is float:
        return json.dumps(value)
    return f"a Python {class_name(value)}"


def _string_text(text: str) -> str:
    part = text[:QUOTE_LIMIT]
    shown = json.dumps(part, ensure_ascii=not is_encodable(part))
    if len(text) == len(part) and len(shown) <= QUOTE_LIMIT:
        return shown
    return f'{shown[: QUOTE_LIMIT - 2]}…" ({len(text)} characters)'


def is_encodable(text: str) -> bool:
    """Tell whether UTF-8 can carry *text*, that is, whether it has no unpaired surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _integer_text(value: int) -> str:
    bits = value.bit_length()
    if bits <= _PRINTABLE_BITS:
        return str(value)
    return f"an integer of about {bits * 30_103 // 100_000 + 1} digits"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 item``, ``3 items``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def class_name(value: object) -> str:
    """Return the name of the value's class without asking the class, which may lie or raise."""
    name: object = _CLASS_NAME.__get__(type(value))
    return clipped(str(name))


_CLASS_NAME = type.__dict__["__name__"]
