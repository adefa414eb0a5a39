"""What the seam needs of whoever delegates.

Next: `_request.py`, what a parent asks for.
"""

from collections.abc import Callable
from typing import Protocol

import trio

from dsh.agent import AgentId

__all__ = ["DelegatingParent"]


class DelegatingParent(Protocol):
    """All the seam needs of whoever delegates; a `dsh.agent.Agent` is one."""

    @property
    def id(self) -> AgentId:
        """Named in every event of the parent's runs."""
        ...

    @property
    def cwd(self) -> str | None:
        """Where the parent's work lies, an absolute path, or ``None``; a child begins there too."""
        ...

    @property
    def depth(self) -> int:
        """How many delegations lie above the parent; a user's own agent has 0."""
        ...

    @property
    def nursery(self) -> trio.Nursery:
        """Where the children's supervisors live; it closes before the parent has ended."""
        ...

    def dispatch(self, event: object) -> None:
        """Tell the parent's scope. Plain and contained: it neither waits nor raises."""
        ...

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Have *cancel_scope* cancelled as soon as the parent begins to end.

        The parent does so inside its nursery's block, so that neither a start driven from outside
        nor a shielded scope can hold it up. The undo that is returned takes the adoption back.

        Raises:
          ParentDisposedError: It has begun already (``dsh.agent.AgentDisposedError`` will do).
        """
        ...
