"""What is seen of a run while it goes on: a tree on a terminal, lines anywhere else.

Both are on standard error, so that standard output has the answer and nothing else.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final, final

import trio
from rich.console import Console
from rich.live import Live
from rich.table import Table

from dsh.agent import Hooks
from dsh.cli._delegations import Delegation
from dsh.cli._drawing import drawing, totals
from dsh.cli._printable import on_one_line
from dsh.cli._streams import say
from dsh.cli._watch import Watch

__all__ = ["displayed"]

SHORTEST: Final = 0.1
"""Seconds between two drawings at least: a model's words come faster than eyes follow."""

LONGEST: Final = 1.0
"""Seconds between two drawings at most, since one of the columns is the time."""


@asynccontextmanager
async def displayed(hooks: Hooks) -> AsyncGenerator[Watch]:
    """Show what the runs of a host do for as long as the block runs; its last state stays."""
    console = Console(stderr=True)
    if not console.file.isatty() or console.is_dumb_terminal:
        yield Watch(hooks, _tell)
        return
    tree = _Tree(console)
    watch = tree.watch = Watch(hooks, tree.note)
    with Live(console=console, auto_refresh=False, redirect_stdout=False) as live:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(tree.keep_drawn, live)
                yield watch
                nursery.cancel_scope.cancel("the run is over")
        finally:
            live.update(tree.drawn(), refresh=True)


@final
class _Tree:
    """Draws the tree anew when it changed, and when a second has passed."""

    watch: Watch

    def __init__(self, console: Console) -> None:
        self._console = console
        self._changed = trio.Event()

    def note(self, _: Delegation, __: str) -> None:
        self._changed.set()

    def drawn(self) -> Table:
        return drawing(self.watch.roots, now=self.watch.now, width=self._console.width)

    async def keep_drawn(self, live: Live) -> None:
        while True:
            with trio.move_on_after(LONGEST):
                await self._changed.wait()
            self._changed = trio.Event()
            live.update(self.drawn(), refresh=True)
            await trio.sleep(SHORTEST)


def _tell(found: Delegation, news: str) -> None:
    """Say in one line what happened, for files, pipes and terminals that cannot draw."""
    if not news:
        return
    if found.ended is not None:
        news = f"{news} ({totals(found, found.ended)})"
        if found.detail is not None:
            news = f"{news}: {found.detail}"
    say(f"{on_one_line(found.label)} [{on_one_line(found.provider)}]: {on_one_line(news)}\n")
