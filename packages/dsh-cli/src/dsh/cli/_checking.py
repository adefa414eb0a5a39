"""``dsh check``: every log of a directory against the rules of logs."""

import argparse
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from dsh.agent import LogFormatError, SessionInvariantError, TurnEnded, TurnStarted, check_log
from dsh.cli._errors import BadInputError
from dsh.cli._logs import Log, log_files, read_log
from dsh.cli._printable import counted, printable

__all__ = ["perform"]

_STYLES: Final = {True: ("ok  ", "green"), False: ("FAIL", "red")}


def perform(options: argparse.Namespace) -> int:
    """Print a line for each log; 1 if any breaks a rule.

    A log whose writer was cut off is legal: whoever resumes it repairs it. That is noted.
    """
    console = Console()
    files = log_files(options.logs)
    verdicts = [_verdict(path) for path in files]
    for path, (holds, words) in zip(files, verdicts, strict=True):
        console.print(
            Text.assemble(_STYLES[holds], f" {printable(path.name)}: {printable(words)}"),
            soft_wrap=True,
        )
    return 0 if all(holds for holds, _ in verdicts) else 1


def _verdict(path: Path) -> tuple[bool, str]:
    try:
        log = read_log(path)
        check_log(log.events)
    except BadInputError as exc:
        return False, exc.problem
    except (LogFormatError, SessionInvariantError) as exc:
        return False, str(exc)
    return True, f"{counted(len(log.events), 'event')}{_notes(log)}"


def _notes(log: Log) -> str:
    notes: list[str] = []
    if log.header.seed_length:
        notes.append(f"{log.header.seed_length} of them inherited")
    last = next((e for e in reversed(log.events) if isinstance(e, TurnStarted | TurnEnded)), None)
    if isinstance(last, TurnStarted):
        notes.append(f"turn {last.turn} was interrupted")
    if log.torn:
        notes.append(f"a torn last line of {counted(log.torn, 'byte')}")
    return "".join(f", {note}" for note in notes)
