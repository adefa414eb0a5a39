"""Who has a say in a tool call: the hook points around it, in the order in which they come.

Next: ``_pipeline.py``, which asks them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from dsh.agent._hooks import Filter, Guard
from dsh.agent._messages import ResultBlock
from dsh.agent._tool import ToolBody, ToolExecution, ToolResult

__all__ = [
    "POST_EXECUTE",
    "PRE_EXECUTE",
    "TOOL_BODY",
    "TOOL_GUARD",
    "Accept",
    "Allow",
    "Ask",
    "Block",
    "Deny",
    "ToolFinished",
    "ToolOutcome",
    "ToolStarted",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """The call may go on."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The call may not; the model reads the ``reason``."""

    reason: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Somebody would have to approve, for ``reason``; as nobody can be asked, this denies."""

    reason: str


PRE_EXECUTE: Final[Filter[Allow | Deny | Ask, ToolExecution]] = Filter(
    "pre-execute", accepts=Allow | Deny | Ask
)
"""Whether a call may go on, decided before the guards are asked."""

TOOL_GUARD: Final[Guard[ToolExecution]] = Guard("tool guard")
"""A reason against a call, or none; asked last, so nothing overrides it (B-TOOL-19)."""

TOOL_BODY: Final[Filter[ToolBody, ToolExecution]] = Filter("tool body", accepts=Callable)  # type: ignore[arg-type]
"""What runs: a listener gives back the body it got, or another one around or instead of it.

The innermost body never raises an ``Exception``: the tool's own failures are results already.
"""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    """The body of a call, ``execution``, is about to run."""

    execution: ToolExecution


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """The ``result`` that the call ``execution`` came to, before it was reviewed."""

    execution: ToolExecution
    result: ToolResult


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Accept:
    """The result stands, perhaps with other ``content``, perhaps with ``context`` besides."""

    content: tuple[ResultBlock, ...] | None = None
    context: str | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The result is withheld: the call failed, and the model reads ``feedback`` instead.

    ``context`` is told besides.
    """

    feedback: str
    context: str | None = None


Review: TypeAlias = Accept | Block

POST_EXECUTE: Final[Filter[Review, ToolOutcome]] = Filter("post-execute", accepts=Review)
"""What becomes of a result, of a denied call's too (B-TOOL-25)."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """The final ``result`` of the call ``execution``; exactly one for each (B-TOOL-31)."""

    execution: ToolExecution
    result: ToolResult
