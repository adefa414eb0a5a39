"""What a scenario sees of the sweep: it declares where it can be cancelled.

Next: ``_counter.py``, which counts the steps and makes the cuts.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias, final

import trio

from dsh.agent.testing._cut import Cut

__all__ = ["Route", "SweepStage"]

Route: TypeAlias = Callable[[], object]
"""Cancels something. A plain function, called between two steps of the scenario's tasks; what an
``async`` one returns is awaited in a task of its own beside the scenario."""


@final
class SweepStage:
    """Handed to a scenario for one run: the routes it can be cancelled by, and when it is over.

    Everything the scenario does is counted and cut, in every task started below it, except what it
    does inside ``settled``.
    """

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        """The live routes by name; written by ``scope`` and ``route`` only."""
        self.scopes: set[str] = set()
        """Names of the routes that were scopes: cancelling one twice is cancelling it once."""
        self.made: list[Cut] = []
        """The cancels made so far in this run; empty in a baseline run."""
        self.paused = 0
        """How many ``settled`` blocks are open."""
        self.settlements = 0
        """How many were entered so far in this run."""

    @contextmanager
    def scope(self, name: str = "scope") -> Generator[trio.CancelScope]:
        """A cancel scope around the block; cancelling it is the route *name*.

        The scope absorbs its cancellation as any scope does: what follows the block runs.

        Raises:
          ValueError: a live route has that name.
        """
        with trio.CancelScope() as scope, self.route(name, lambda: scope.cancel("cut by a sweep")):
            self.scopes.add(name)
            yield scope

    @contextmanager
    def route(self, name: str, cancel: Route) -> Generator[None]:
        """Let the sweep call *cancel* at any step inside the block: ``agent.cancel``, a disposal.

        Raises:
          ValueError: a live route has that name.
        """
        if name in self.routes:
            raise ValueError(f"there is a live route {name!r} already; routes are told by name")
        self.routes = self.routes | {name: cancel}
        try:
            yield
        finally:
            self.routes = {key: value for key, value in self.routes.items() if key != name}

    @contextmanager
    def settled(self) -> Generator[None]:
        """The strictest moment: what was swept is over, nothing above it is closed yet.

        Check in here, and have the same host serve the next prompt. Steps inside are neither
        counted nor cut. A sweep in which no run ever gets here fails: it would have checked
        nothing.
        """
        self.settlements += 1
        self.paused += 1
        try:
            yield
        finally:
            self.paused -= 1
