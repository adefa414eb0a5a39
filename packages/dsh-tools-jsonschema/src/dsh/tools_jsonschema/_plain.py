"""The exact built-in types JSON is made of: the first question asked of any object.

`type(value)` cannot lie, where `isinstance` asks the object and lets subclasses pass.
"""

from __future__ import annotations

from typing import Any, TypeGuard


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Tell whether *value* is a plain list; a subclass may lie about its items."""
    return type(value) is list


def is_object(value: object) -> TypeGuard[dict[Any, Any]]:
    """Tell whether *value* is a plain dict; its keys may still be anything."""
    return type(value) is dict


def is_string(value: object) -> TypeGuard[str]:
    """Tell whether *value* is a plain string; a subclass may lie about its text."""
    return type(value) is str


def is_integer(value: object) -> TypeGuard[int]:
    """Tell whether *value* is a plain integer, which a boolean is not."""
    return type(value) is int
