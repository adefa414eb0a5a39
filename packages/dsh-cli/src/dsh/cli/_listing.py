"""``dsh members``: the installed members of the family, and what each of them lacks."""

import argparse

from rich.console import Console
from rich.markdown import Markdown

from dsh.cli._members import installed

__all__ = ["perform"]


def perform(_: argparse.Namespace) -> int:
    """Print each installed member, with its version and what it lacks, to standard output."""
    console = Console()
    members = installed()
    console.print(f"{len(members)} members of the dsh family are installed.", highlight=False)
    for member in members:
        console.print(f"\n[bold]{member.name}[/bold] {member.version}", highlight=False)
        console.print(Markdown("\n".join(f"- {each}" for each in member.lacks)))
    return 0
