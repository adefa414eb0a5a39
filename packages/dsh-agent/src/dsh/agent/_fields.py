"""What the values of this package check when they are made: that each field holds its type.

A log is read back by the types its events declare, so what they hold is checked on the way in.
"""

from collections.abc import Mapping

__all__ = [
    "require",
    "require_count",
    "require_mapping",
    "require_number",
    "require_text",
    "require_text_or_function",
    "require_text_or_none",
]


def require_text(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is no ``str``."""
    if not isinstance(value, str):
        raise _wrong(owner, field, value, "a str")


def require_text_or_none(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is neither a ``str`` nor ``None``."""
    if value is not None and not isinstance(value, str):
        raise _wrong(owner, field, value, "a str or None")


def require_text_or_function(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is neither a ``str`` nor gives one when called."""
    if not isinstance(value, str) and not callable(value):
        raise _wrong(owner, field, value, "a str or a function")


def require_count(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is no ``int``; a ``bool`` is none."""
    if type(value) is not int:
        raise _wrong(owner, field, value, "an int")


def require_mapping(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is no mapping."""
    if type(value) is not dict and not isinstance(value, Mapping):  # the latter asks an ABC
        raise _wrong(owner, field, value, "a mapping")


def require_number(owner: object, field: str, value: object) -> None:
    """Refuse a *value* that is neither an ``int`` nor a ``float``; a ``bool`` is neither."""
    if type(value) is not int and type(value) is not float:
        raise _wrong(owner, field, value, "a number")


def require(owner: object, field: str, value: object, kind: type) -> None:
    """Refuse a *value* whose class is not exactly *kind*."""
    if type(value) is not kind:
        raise _wrong(owner, field, value, f"a {kind.__name__}")


def _wrong(owner: object, field: str, value: object, expected: str) -> TypeError:
    found = type(value).__name__
    return TypeError(f"{type(owner).__name__}.{field} is a {found}, not {expected}")
