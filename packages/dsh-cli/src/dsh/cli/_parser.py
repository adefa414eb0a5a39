"""What may stand on the command line; argparse, which costs a start nothing worth measuring."""

import argparse
import os
import sys
from collections.abc import Iterable
from typing import Final, NoReturn, final

EPILOG: Final = """\
exit status: 0 completed, 1 failed, 2 refused before anything was started, 130 interrupted.
"""

_MOST: Final = 1_000_000
"""Of anything that is counted on the command line; who means more means no bound."""


@final
class _Formatter(argparse.HelpFormatter):
    """Finds the width itself: argparse would import ``shutil``, which costs half as much as it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    """How wide the terminal is; ``COLUMNS`` says otherwise, and without either it is 80."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # no terminal, or a stream that is no file
        return 80


@final
class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def parser(commands: Iterable[str]) -> argparse.ArgumentParser:
    """Make the parser of *commands*; what it parses has the chosen one as ``command``."""
    made = _Parser(
        prog="dsh",
        description="Delegate work from one agent to others, and see what came of it.",
        epilog=EPILOG,
        formatter_class=_Formatter,
    )
    adding = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in commands:
        add, summary = _COMMANDS[name]
        add(
            adding.add_parser(
                name,
                help=summary,
                description=f"{summary}.",
                epilog=EPILOG,
                formatter_class=_Formatter,
            )
        )
    return made


def _run(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "prompt", nargs="?", help="what the agent is asked; standard input if it is left out or -"
    )
    made.add_argument(
        "--model",
        help="openai:NAME, anthropic:NAME, deepseek:NAME or replay:FILE; by default the first of "
        "these whose key the environment has",
    )
    made.add_argument(
        "--provider",
        default="spawn",
        help="what children run on: spawn (a fresh agent, the default), fork (one that knows the "
        "conversation), acp:AGENT (one in a process of its own), or another installed one",
    )
    made.add_argument(
        "--tools", metavar="DIR", help="let agents read, list and search the files below DIR"
    )
    made.add_argument(
        "--output-schema",
        metavar="FILE|MODULE:MODEL",
        help="have the answer as JSON: a JSON schema in a file, or a pydantic model, dataclass or "
        "TypedDict that can be imported",
    )
    made.add_argument(
        "--max-depth",
        type=_count(0),
        default=3,
        metavar="N",
        help="how deep children may nest (3); 0 forbids them",
    )
    made.add_argument(
        "--max-children",
        type=_count(1),
        default=100,
        metavar="N",
        help="how many children one agent may start (100)",
    )
    made.add_argument(
        "--max-parallel",
        type=_count(1),
        default=16,
        metavar="N",
        help="how many tool calls of one answer, children among them, run at once (16)",
    )
    made.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help="when to give up; by default never"
    )
    _outputs(made)


def _outputs(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--log", metavar="DIR", help="keep a log of every agent there, for dsh show and dsh check"
    )
    made.add_argument(
        "--json", action="store_true", help="print one JSON object instead of the answer's text"
    )


def _show(made: argparse.ArgumentParser) -> None:
    _logs(made)
    made.add_argument("--session", metavar="ID", help="print one conversation (a unique beginning)")
    made.add_argument("--html", metavar="FILE", help="write one self-contained page instead")


def _logs(made: argparse.ArgumentParser) -> None:
    made.add_argument("logs", metavar="LOGDIR", help="what --log named in dsh run")


def _nothing(_: argparse.ArgumentParser) -> None:
    pass


_COMMANDS: Final = {
    "run": (_run, "Have an agent answer a prompt, with children to delegate to"),
    "demo": (_outputs, "Watch three kinds of children at work, without a key or a network"),
    "show": (_show, "Show who delegated what to whom in a finished run, from its logs"),
    "check": (_logs, "Check every log in a directory against the rules of logs"),
    "providers": (_nothing, "List what children can run on here"),
    "models": (_nothing, "List the models that can be asked here, and what is missing for others"),
    "members": (_nothing, "List the installed members of the family, and what each of them lacks"),
}


def _count(least: int) -> "type[int]":
    """Make a type for argparse: a whole number from *least* on, within reason."""

    def count(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value} is below {least}")
        if value > _MOST:
            raise argparse.ArgumentTypeError(f"{value} is above {_MOST}")
        return value

    return count  # type: ignore[return-value]  # argparse takes any callable; so far for the stub


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no positive number of seconds")
    return value
