"""Where tools are registered and run: a host's layer, and a layer of each agent's own."""

import json
from typing import TYPE_CHECKING, final

from dsh.agent._errors import AgentError
from dsh.agent._hooks import Registration
from dsh.agent._messages import TextBlock, ToolCallBlock
from dsh.agent._model import ToolSchema
from dsh.agent._tool import Tool, ToolExecution, ToolFilter, ToolResult

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = ["DuplicateToolError", "ToolRegistry", "UnknownToolError"]


class DuplicateToolError(AgentError):
    """The layer already has a tool of that name; nothing changed."""

    code = "DUPLICATE_TOOL"

    def __init__(self, name: str) -> None:
        super().__init__(f"a tool named {name!r} is already registered in this layer")
        self.name = name


class UnknownToolError(AgentError):
    """A filter names a tool that the host does not have; nothing changed."""

    code = "UNKNOWN_TOOL"

    def __init__(self, name: str, *, known: tuple[str, ...]) -> None:
        super().__init__(f"no tool named {name!r}; the host has: {', '.join(known) or 'none'}")
        self.name, self.known = name, known


@final
class ToolRegistry:
    """The tools of one layer; *host* is the layer below an agent's own."""

    __slots__ = ("_filters", "_host", "_tools")

    def __init__(self, host: "ToolRegistry | None" = None) -> None:
        self._host = host
        self._tools: dict[str, Tool] = {}
        self._filters: list[ToolFilter] = []

    def register(self, tool: Tool) -> Registration:
        """Offer *tool*; an agent's own tool shadows the host's of the same name.

        Raises:
          DuplicateToolError: this layer has one of that name.
        """
        if tool.name in self._tools:
            raise DuplicateToolError(tool.name)
        self._tools[tool.name] = tool

        def undo() -> None:
            del self._tools[tool.name]

        return Registration(undo)

    def restrict(self, filter: ToolFilter) -> Registration:
        """Narrow what this agent sees of its host's tools, in the prompt and at dispatch.

        Raises:
          UnknownToolError: a name is not one of the host's tools.
        """
        known = tuple(self._host._tools) if self._host is not None else ()
        for name in (*(filter.allow or ()), *(filter.deny or ())):
            if name not in known:
                raise UnknownToolError(name, known=known)
        self._filters.append(filter)
        return Registration(lambda: self._filters.remove(filter))

    def _passes(self, name: str) -> bool:
        return all(
            (f.allow is None or name in f.allow) and (f.deny is None or name not in f.deny)
            for f in self._filters
        )

    def visible(self) -> dict[str, Tool]:
        """The tools this layer may call, by name."""
        host = self._host.visible() if self._host is not None else {}
        return {name: tool for name, tool in host.items() if self._passes(name)} | self._tools

    def schemas(self) -> tuple[ToolSchema, ...] | None:
        """The visible tools as a model sees them, by name; ``None`` where there are none."""
        visible = self.visible()
        return (
            tuple(
                ToolSchema(name=tool.name, description=tool.description, parameters=tool.parameters)
                for _, tool in sorted(visible.items())
            )
            or None
        )

    async def execute(self, call: ToolCallBlock, *, agent: "Agent | None" = None) -> ToolResult:
        """Run one call to its final result; what goes wrong in a tool is a result too."""
        tool = self.visible().get(call.name)
        if tool is None:
            return _failure(f"there is no tool named {call.name!r}", "UNKNOWN_TOOL")
        try:
            arguments = json.loads(call.arguments or "{}")
        except ValueError as exc:
            return _failure(f"the arguments are not JSON: {exc}", "INVALID_ARGS")
        execution = ToolExecution(call_id=call.id, name=call.name, arguments=arguments, agent=agent)
        try:
            return await tool.execute(execution)
        except Exception as exc:  # noqa: BLE001 - a tool's failure is the model's to read (B-TOOL-28)
            return _failure(str(exc) or type(exc).__name__, getattr(exc, "code", None))


def _failure(text: str, code: str | None) -> ToolResult:
    return ToolResult(content=(TextBlock(text=text),), is_error=True, code=code)
