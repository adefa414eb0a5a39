"""What this package raises: a schema it cannot enforce, or a value that does not become its type.

The package depends on no other of the family, so its errors are `ValueError`s that follow the
same convention: a stable `code`, and a message that lists everything that was wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar


class StructuredOutputError(ValueError):
    """Base of the package's refusals; never raised itself.

    Attributes:
        code: What to route by; stable across releases.
        violations: Everything that was wrong, each entry beginning with its path.
    """

    code: ClassVar[str]
    _headline: ClassVar[str]

    violations: tuple[str, ...]

    def __init__(self, violations: Iterable[str]) -> None:
        if type(self) is StructuredOutputError:
            raise TypeError("raise a subclass of StructuredOutputError")
        self.violations = tuple(violations)
        super().__init__(f"{self._headline}: {'; '.join(self.violations)}")

    def __reduce__(self) -> tuple[type[StructuredOutputError], tuple[tuple[str, ...]]]:
        """Pickle by the violations, since the message is made from them."""
        return (type(self), (self.violations,))


class OutputSchemaError(StructuredOutputError):
    """The schema is outside the subset; `violations` are in the order of the walk."""

    code = "UNSUPPORTED_SCHEMA"
    _headline = "unsupported output schema"


class StructuredValueError(StructuredOutputError):
    """The value is not one of the type it was to become; the type's own checks refused it."""

    code = "INVALID_STRUCTURED_VALUE"
    _headline = "invalid structured value"
