"""Strict ``{{variable}}`` placeholders (B-SYS-07)."""

import re
from collections.abc import Callable
from typing import Final

from dsh.agent._errors import AgentError

__all__ = ["PlaceholderError", "fill_in", "is_variable_name"]

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_PLACEHOLDER: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


class PlaceholderError(AgentError):
    """A placeholder that nothing, or nothing definite, stands behind."""

    code = "INVALID_PLACEHOLDER"


def is_variable_name(name: str) -> bool:
    """Whether a placeholder could have this name."""
    return _NAME.fullmatch(name) is not None


def fill_in(text: str, value_of: Callable[[str], str | None], *, section: str) -> str:
    """*text* with every placeholder replaced; values are not looked at again.

    A ``{{`` that nothing closes is text.

    Raises:
      PlaceholderError: a malformed name, or one without a value.
    """

    def replaced(match: re.Match[str]) -> str:
        name = match[1]
        if not is_variable_name(name):
            raise PlaceholderError(
                f"the prompt section {section!r} has the placeholder {match[0]!r}; "
                "one looks like {{name}}, in lower-case letters, digits and underscores"
            )
        value = value_of(name)
        if value is None:
            raise PlaceholderError(
                f"the prompt section {section!r} names the variable {name!r}, which has no value"
            )
        return value

    return _PLACEHOLDER.sub(replaced, text)
