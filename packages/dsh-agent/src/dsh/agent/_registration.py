"""The undo of a registration, and the refusal to register where nothing lasts any more."""

from collections.abc import Callable
from typing import Self, final

from dsh.agent._errors import AgentError

__all__ = ["InactiveScopeError", "Registration"]


class InactiveScopeError(AgentError):
    """Something was registered with ``what``, which has ended; nothing changed."""

    code = "INACTIVE_EFFECT"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"cannot register {what}: the agent or host it would belong to has ended; "
            "register with a live one"
        )
        self.what = what


@final
class Registration:
    """The undo of a registration: ``close()`` it, or hold it in a ``with``."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def close(self) -> None:
        """Take the registration back; closing again does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
