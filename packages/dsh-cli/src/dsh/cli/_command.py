"""The command line's entrance: understands the arguments, calls one subcommand, says what failed.

`dsh --help` costs no more than Python and argparse: a subcommand's module, and with it trio,
pydantic and rich, is imported here and nowhere else, once it is known which one is wanted, and
once signals are taken note of.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Final, cast

from dsh.cli._interruption import INTERRUPTED, Interruption, interruptible, raising
from dsh.cli._printable import on_one_line
from dsh.cli._streams import discard_output, is_output_full, prepare_streams, say

COMMANDS: Final = {
    "run": "dsh.cli._running",
    "demo": "dsh.cli._demo",
    "show": "dsh.cli._showing",
    "check": "dsh.cli._checking",
    "providers": "dsh.cli._providers",
    "models": "dsh.cli._models",
    "members": "dsh.cli._listing",
}
"""Which module performs which subcommand: each has ``perform(options) -> int``."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the `dsh` command and return its exit status.

    0 is success, 1 that what was asked for did not succeed, 2 that it was refused before anything
    was started (one line on standard error says why), 130 that Ctrl-C ended it, 143
    that SIGTERM did.

    Args:
        arguments: What stands after the command's name; by default the process's own arguments.

    Raises:
        SystemExit: After `--help` (status 0) and for arguments nobody understands (status 2).
    """
    interruption: Interruption | None = None
    try:
        with interruptible(raising) as interruption:
            status = _performed(arguments, interruption)
            interruption.raise_lost()
            return status
    except KeyboardInterrupt:
        return INTERRUPTED if interruption is None else interruption.status


def _performed(arguments: Sequence[str] | None, interruption: Interruption) -> int:
    if not prepare_streams():
        say("dsh: standard output is closed\n")
        return 2
    options = import_module("dsh.cli._parser").parser(COMMANDS).parse_args(arguments)
    try:
        refusals = cast("type[Exception]", import_module("dsh.agent").HarnessError)
        perform = import_module(COMMANDS[options.command]).perform
        interruption.raise_lost()
        try:
            return cast("int", perform(options))
        except refusals as refusal:
            say(f"dsh {options.command}: {on_one_line(str(refusal))}\n")
            return 2
    except BrokenPipeError:  # whoever read the output has gone
        discard_output()
        return 1
    except OSError as exc:
        if not is_output_full(exc):
            raise
        discard_output()
        say(f"dsh {options.command}: cannot write any more: {exc.strerror}\n")
        return 1
