"""What `dsh` prints of the installed members."""

from dsh.cli._members import installed


def print_members() -> None:
    """Print each installed member, with its version and what it lacks, to standard output."""
    from rich.console import Console  # a tenth of a second that `dsh --help` does without
    from rich.markdown import Markdown

    console = Console()
    members = installed()
    console.print(f"{len(members)} members of the dsh family are installed.", highlight=False)
    for member in members:
        console.print(f"\n[bold]{member.name}[/bold] {member.version}", highlight=False)
        console.print(Markdown("\n".join(f"- {each}" for each in member.lacks)))
