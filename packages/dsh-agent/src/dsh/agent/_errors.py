"""The base of every error above the schema package, and this package's own base.

Catch by class, route by ``code``, repair from the message: every refusal says what was wrong,
where, and what would have been accepted.
"""

from typing import cast

__all__ = ["AgentError", "HarnessError", "message_of", "unwrapped"]


class HarnessError(Exception):
    """Base of every error the family raises; each concrete class has a stable ``code``.

    Raises:
      TypeError: this class itself, or a package's base, is raised instead of a subclass.
    """

    code: str

    def __init__(self, message: str) -> None:
        if not hasattr(type(self), "code"):
            raise TypeError(f"{type(self).__name__} is a base class: raise one of its subclasses")
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle the message as it is: subclasses make theirs from other arguments."""
        return _revived, (type(self), self.args), self.__dict__


def _revived(kind: type[HarnessError], args: tuple[object, ...]) -> HarnessError:
    return kind.__new__(kind, *args)


class AgentError(HarnessError):
    """Base of what ``dsh.agent`` refuses."""


def message_of(error: BaseException) -> str | None:
    """What *error* says; ``None`` where its own ``__str__`` raises, as a foreign one may."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - foreign code, run only to word a message
        return None


def unwrapped(error: BaseException) -> BaseException:
    """Return the one exception that a group of one holds, however deep; else *error* itself.

    A nursery wraps whatever leaves it in a group; what one task raised is shown as it was raised.
    """
    while isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        first, *others = group.exceptions
        if others:
            return group
        error = first
    return error
