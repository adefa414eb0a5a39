"""What the kit asks of whoever tests a backend: make the child behave, and say whether it runs.

A drive is a few lines. The kit's prompts are the words of `Behaviour`, so a scripted model, a fake
agent process or a test server can simply act on what it is told::

    class SpawnDrive(Drive):
        def running(self):
            return len(self.host.agents.list())

Next: `_bench.py`, what a clause works with.
"""

from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Protocol

from dsh.subagent._parent import DelegatingParent
from dsh.subagent.testing._parent import ScriptedParent

__all__ = ["Behaviour", "Drive"]


class Behaviour(StrEnum):
    """What the next child is to do once it has its prompt."""

    ANSWER = "answer"
    """Say something visible and end well."""
    HANG = "hang"
    """Never answer; when cancelled, end at once."""
    LINGER = "linger"
    """Never answer; when cancelled, take a moment to clean up, shielded or in its own process."""
    FAIL = "fail"
    """End badly, as children do: a failing model, an exit code, a refusal."""


class Drive(Protocol):
    """Subclass it for one backend; only `running` has no default."""

    def running(self) -> int:
        """How many children exist right now, published or not: live agents, live processes.

        What is there once the parent is, the parent itself for example, is taken off.

        The kit looks when a child must be gone, never when one must be there: a child whose thread
        or process has not begun may count or not.
        """
        ...

    def prompt(self, behaviour: Behaviour) -> str:
        """The prompt that makes a child behave so."""
        return behaviour.value

    def worked(self) -> int:
        """How many prompts children have begun to work on, ever; 0 where that cannot be seen.

        With it the kit proves that no child acts before it is published, or after a cancelled
        start.
        """
        return 0

    def structured(self) -> str | None:
        """The prompt for a child that answers in the schema of its request.

        The kit asks for an object whose one property, ``answer``, is a string. With ``None`` it
        does not check that a declared ``output_schema`` is honoured.
        """
        return None

    def said(self) -> str | None:
        """What a child that hangs has said before, told as `TextProgress`.

        With it the kit proves that progress is told, and that a cancelled result has what was said.
        """
        return None

    def parent(self) -> AbstractAsyncContextManager[DelegatingParent]:
        """A fresh parent, ended by leaving the block; a backend that needs a real agent has one."""
        return ScriptedParent()
