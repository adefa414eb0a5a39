"""A tool, one execution of it, and what came of it.

Next: ``_function_tool.py`` makes one from a function; ``_tools.py``, where tools are registered;
``_pipeline.py``, how a call becomes a result.
"""

import math
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, final

from dsh.agent._errors import AgentError
from dsh.agent._fields import (
    require_mapping,
    require_number,
    require_text,
    require_text_or_none,
)
from dsh.agent._json import JsonValueError
from dsh.agent._messages import ResultBlock
from dsh.agent._model import ToolSchema

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = [
    "InvalidToolError",
    "Tool",
    "ToolArgsError",
    "ToolBody",
    "ToolError",
    "ToolExecution",
    "ToolResult",
]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider of function calling accepts as a name."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ToolExecution:
    """One dispatch of a tool; the object is its identity, as call ids may repeat (B-TOOL-21)."""

    call_id: str
    """As the model gave it."""
    name: str
    """The tool's."""
    arguments: object
    """The arguments as JSON, deeply frozen; the raw text where it was not JSON."""
    text: str = ""
    """The text that ``arguments`` was read from; ``{}`` where the model sent none."""
    agent: "Agent | None" = None
    """Whose call it is; ``None`` where a tool is run on its own."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a call came to: ``content`` is what the model reads of it.

    A failure has ``is_error`` and a stable ``code``. ``context`` is told to the model after all
    results of the step.
    """

    content: tuple[ResultBlock, ...]
    is_error: bool = False
    code: str | None = None
    context: str | None = None


ToolBody: TypeAlias = Callable[[ToolExecution], Awaitable[ToolResult]]
"""What runs when a tool is called."""


class InvalidToolError(AgentError):
    """A tool that no model could be offered, or that cannot be run as declared."""

    code = "INVALID_TOOL"

    def __init__(self, name: object, problem: str) -> None:
        super().__init__(f"the tool {name!r} {problem}")


class ToolError(AgentError):
    """For tools to raise: the model reads exactly this message, as an error result."""

    code = "TOOL_ERROR"

    def __init__(self, message: str, *, code: str = "TOOL_ERROR") -> None:
        super().__init__(message)
        self.code = code


class ToolArgsError(AgentError):
    """The arguments do not fit the parameters: each of ``violations`` says where (B-TOOL-32)."""

    code = "INVALID_ARGS"

    def __init__(self, name: str, violations: tuple[str, ...]) -> None:
        listed = "".join(f"\n- {violation}" for violation in violations)
        super().__init__(f"the arguments of {name} are not valid:{listed}")
        self.violations = violations


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """Something a model can call by its ``name``, when it knows by ``description`` what for.

    ``execute`` gets the execution with its arguments parsed but not validated (B-TOOL-33).
    ``concurrent`` lets calls of one response run at once with their concurrent neighbours;
    ``owner_final`` keeps the tool in every assembly exactly as registered (B-SYS-09).

    Raises:
      InvalidToolError: a name no model takes, no description, parameters that are not the JSON
        schema of an object, a timeout or order that is not a finite number.
      TypeError: a field is of another type.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    """The JSON schema of the arguments; a frozen copy is kept."""
    execute: ToolBody
    concurrent: bool = False
    owner_final: bool = False
    timeout: float | None = None
    """Seconds after which the body is cancelled and the call fails."""
    guidance: str | None = None
    """System text about the tool, in the section ``tool:<name>`` wherever the tool is offered."""
    guidance_order: float = 100
    """Where that section comes; lower is earlier."""
    schema: ToolSchema = field(init=False, repr=False)
    """The tool as models see it; one object for all requests."""

    def __post_init__(self) -> None:
        require_text(self, "name", self.name)
        require_text(self, "description", self.description)
        require_mapping(self, "parameters", self.parameters)
        require_text_or_none(self, "guidance", self.guidance)
        require_number(self, "guidance_order", self.guidance_order)
        if self.timeout is not None:
            require_number(self, "timeout", self.timeout)
        problem = self._problem()
        if problem is not None:
            raise InvalidToolError(self.name, problem)
        try:
            schema = ToolSchema(
                name=self.name, description=self.description, parameters=self.parameters
            )
        except JsonValueError as exc:
            raise InvalidToolError(self.name, f"needs parameters that are JSON: {exc}") from exc
        object.__setattr__(self, "parameters", schema.parameters)  # the one frozen copy
        object.__setattr__(self, "schema", schema)

    def _problem(self) -> str | None:
        if not _NAME.fullmatch(self.name):
            return "needs a name of 1 to 64 letters, digits, hyphens and underscores"
        if not self.description.strip():
            return "needs a description"
        if not callable(self.execute):
            return "needs a body that can be called"
        if self.parameters.get("type") != "object":
            return "needs parameters that are the JSON schema of an object"
        if self.timeout is not None and not (0 < self.timeout < math.inf):
            return f"needs a timeout that is positive and finite, not {self.timeout!r} (B-TOOL-05)"
        if not math.isfinite(self.guidance_order):
            return f"needs a guidance order that is finite, not {self.guidance_order!r}"
        return None
