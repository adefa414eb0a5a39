"""The person at the keyboard, as the parent of the one agent they talk to."""

from collections.abc import Callable
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import AgentId, Hooks
from dsh.subagent import DelegatingParent

__all__ = ["User"]


@final
class User:
    """All the seam needs of a parent, so that asking an agent is a delegation like any other.

    Args:
      nursery: where the agent's run lives.
      hooks: the host's, which are told of it.
      cwd: where the agent works.
    """

    def __init__(self, nursery: trio.Nursery, hooks: Hooks, *, cwd: str) -> None:
        self.id = AgentId("user")
        self.depth = 0
        self.nursery = nursery
        self.cwd = cwd
        self._hooks = hooks

    def dispatch(self, event: object) -> None:
        """Tell the host's hooks."""
        self._hooks.dispatch(event)

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        """Nothing to do: what ends a user cancels the nursery from above, and the run with it."""
        del cancel_scope
        return _nothing


def _nothing() -> None:
    pass


if TYPE_CHECKING:
    _: type[DelegatingParent] = User
