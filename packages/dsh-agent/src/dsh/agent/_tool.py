"""A tool, one execution of it, and what came of it.

Next: ``_tools.py``, where tools are registered and run.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

from dsh.agent._messages import ResultBlock

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = ["Tool", "ToolBody", "ToolExecution", "ToolFilter", "ToolResult"]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolExecution:
    """One dispatch of a tool; the object is its identity, as call ids may repeat (B-TOOL-21)."""

    call_id: str
    name: str
    arguments: object
    """The arguments as JSON, frozen; the raw text where it was not JSON."""
    agent: "Agent | None" = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call came to. ``context`` is told to the model after all results of the step."""

    content: tuple[ResultBlock, ...]
    is_error: bool = False
    code: str | None = None
    context: str | None = None


ToolBody: TypeAlias = Callable[[ToolExecution], Awaitable[ToolResult]]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """Something a model can call.

    ``parameters`` is the JSON schema shown to the model. ``concurrent`` lets calls of one response
    run at once with their concurrent neighbours; ``owner_final`` keeps the tool in every assembly
    exactly as registered (B-SYS-09).
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    execute: ToolBody
    concurrent: bool = False
    owner_final: bool = False


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFilter:
    """Which of the host's tools an agent may use: allowed first, then denied (B-TOOL-13)."""

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None
