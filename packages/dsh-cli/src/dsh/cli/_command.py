"""The command line: argparse, since `dsh --help` should cost no more than Python itself."""

import argparse
from collections.abc import Sequence

from dsh.cli._listing import print_members


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `dsh` command and return its exit status.

    Args:
        arguments: What stands after the command's name; by default the process's own arguments.

    Raises:
        SystemExit: After `--help` (status 0) and for arguments nobody understands (status 2).
    """
    parser = argparse.ArgumentParser(
        prog="dsh",
        description="List the installed members of the dsh family and what each of them lacks.",
    )
    parser.parse_args(arguments)
    print_members()
    return 0
