"""``dsh show``: a finished run from its logs, as a tree, one conversation, or a page."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dsh.cli._conversation import print_conversation
from dsh.cli._delegations import Delegation, walk
from dsh.cli._drawing import drawing, style_of, totals
from dsh.cli._errors import BadInputError
from dsh.cli._history import read_delegations
from dsh.cli._logs import Log, read_logs
from dsh.cli._page import page
from dsh.cli._printable import on_one_line, printable

__all__ = ["perform"]


def perform(options: argparse.Namespace) -> int:
    """Print what was asked for, or write the page."""
    logs = read_logs(options.logs)
    console = Console()
    if options.session is not None:
        print_conversation(_chosen(logs, options.session), console)
    elif options.html is not None:
        _write(Path(options.html), page(read_delegations(logs), logs))
    else:
        _print_trees(read_delegations(logs), console)
    return 0


def _print_trees(roots: list[Delegation], console: Console) -> None:
    console.print(drawing(roots, now=0.0, width=console.width))
    for found in walk(roots):
        title = Text.assemble("\n", (on_one_line(found.label) or "(no prompt)", "bold"))
        title.append("  ").append(on_one_line(f"{found.provider or 'agent'} {found.id}"), "dim")
        console.print(title, soft_wrap=True)
        state = Text(f"  {on_one_line(found.state)}", style_of(found))
        if found.detail is not None:
            state.append(f": {on_one_line(found.detail)}")
        state.append(f" ({totals(found, 0.0)})", "dim")
        console.print(state, soft_wrap=True)
        if found.text:
            console.print(Text(printable(found.text)), soft_wrap=True)


def _chosen(logs: list[Log], wanted: str) -> Log:
    found = [log for log in logs if log.header.id.startswith(wanted)]
    exact = [log for log in found if log.header.id == wanted]
    if len(exact or found) != 1:
        known = ", ".join(log.header.id for log in found or logs)
        how = "more than one session begins" if found else "no session begins"
        raise BadInputError("--session", f"{how} with {wanted!r}; there are {known}")
    return (exact or found)[0]


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as exc:
        raise BadInputError("--html", f"{path} cannot be written: {exc.strerror}") from exc
