"""The tree of a run as a table for a terminal of any width."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from dsh.cli._delegations import Delegation
from dsh.cli._printable import counted, on_one_line

__all__ = ["drawing", "style_of", "totals"]

NARROW: Final = 72
"""Below this many columns the counts are left out, and below half of it the backend is."""

_STYLES: Final = {"completed": "green", "aborted": "yellow", "timeout": "yellow"}


def style_of(found: Delegation) -> str:
    """The colour of what became of a delegation."""
    if found.stop_reason is None:
        return "cyan"
    return _STYLES.get(found.stop_reason, "red")


def totals(found: Delegation, now: float) -> str:
    """Return requests, tokens and time of a delegation, in words."""
    requests = counted(found.model_requests, "request")
    tokens = counted(found.usage.total_tokens, "token")
    return f"{requests}, {tokens}, {found.seconds(now):.1f} s"


def drawing(roots: Sequence[Delegation], *, now: float, width: int) -> Table:
    """Return the tree below *roots* as a table that fits *width* columns, one line for each."""
    counts, backend = width >= NARROW, width >= NARROW // 2
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("agent", no_wrap=True, overflow="ellipsis", max_width=max(width // 2, 8))
    if backend:
        table.add_column("on", no_wrap=True, overflow="ellipsis", max_width=10)
    table.add_column("state", no_wrap=True, overflow="ellipsis", max_width=max(width // 3, 8))
    if counts:
        table.add_column("requests", justify="right", no_wrap=True)
        table.add_column("tokens", justify="right", no_wrap=True)
    table.add_column("s" if not counts else "seconds", justify="right", no_wrap=True)
    for guide, found in _rows(roots):
        style = style_of(found)
        row = [Text.assemble((guide, "dim"), on_one_line(found.label) or on_one_line(found.id[:8]))]
        if backend:
            row.append(Text(on_one_line(found.provider) or "?", style="dim"))
        row.append(Text(on_one_line(found.state), style=style))
        if counts:
            row.append(Text(str(found.model_requests)))
            row.append(Text(f"{found.usage.total_tokens:,}"))
        row.append(Text(f"{found.seconds(now):.1f}"))
        table.add_row(*row)
    return table


def _rows(roots: Sequence[Delegation]) -> Iterator[tuple[str, Delegation]]:
    """Yield every delegation with what is drawn before it, however deep they nest."""
    waiting = [("", "", root) for root in reversed(roots)]
    while waiting:
        guide, below, found = waiting.pop()
        yield guide, found
        for child in reversed(found.children):
            last = child is found.children[-1]
            mark, line = ("└─ ", "   ") if last else ("├─ ", "│  ")
            waiting.append((below + mark, below + line, child))
