"""What can go wrong with an agent in its own process.

Only `AcpStartError` and `AcpPromptError` ever reach a caller, both from ``start``. The others tell
why a connection or a turn ended; once a child is published they become the ``detail`` of its
result.
"""

from collections.abc import Sequence
from typing import Final

from dsh.subagent import SubagentError, SubagentStartError

__all__ = [
    "AcpConnectionError",
    "AcpError",
    "AcpLineError",
    "AcpOutputError",
    "AcpPromptError",
    "AcpReplyError",
    "AcpStartError",
]

_SHOWN: Final = 300


class AcpError(SubagentError):
    """Base of everything this backend refuses."""


class AcpPromptError(AcpError, SubagentStartError):
    """The request holds something that the protocol, or this agent, cannot be given."""

    code = "ACP_PROMPT"


class AcpStartError(AcpError, SubagentStartError):
    """The agent could not be brought to take a prompt; nothing of it runs any more."""

    code = "ACP_START"

    def __init__(
        self,
        command: Sequence[str],
        step: str,
        problem: str,
        *,
        exit_status: str | None = None,
        said: str = "",
    ) -> None:
        known = exit_status is None or exit_status in problem
        status = "" if known else f"; the agent {exit_status}"
        tail = f"; it said: {said}" if said else ""
        super().__init__(
            f"the agent {' '.join(command)[:_SHOWN]!r} cannot be used: it failed to {step}: "
            f"{problem}{status}{tail}"
        )
        self.command, self.step, self.exit_status = tuple(command), step, exit_status


class AcpConnectionError(AcpError):
    """The agent ended, closed its output, or stopped reading."""

    code = "ACP_CONNECTION"


class AcpLineError(AcpError):
    """A line of the agent has no end within ``max_line_bytes``."""

    code = "ACP_LINE"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the agent sent a line of more than {limit} bytes (max_line_bytes)")
        self.limit = limit


class AcpOutputError(AcpError):
    """What the agent tells in one turn is longer than ``max_output_bytes``."""

    code = "ACP_OUTPUT"

    def __init__(self, limit: int) -> None:
        super().__init__(f"the agent told more than {limit} bytes in one turn (max_output_bytes)")
        self.limit = limit


class AcpReplyError(AcpError):
    """The agent answered a request with an error, or with something that is no answer."""

    code = "ACP_REPLY"

    def __init__(self, method: str, problem: str, *, reply_code: int | None = None) -> None:
        number = "" if reply_code is None else f" (code {reply_code})"
        super().__init__(f"{method} was answered with {problem[:_SHOWN]}{number}")
        self.method, self.reply_code = method, reply_code
