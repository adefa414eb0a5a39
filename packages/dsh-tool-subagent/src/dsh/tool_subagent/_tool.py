"""The delegation tool: a model's call becomes a child's prompt, its end becomes the result."""

from collections.abc import Mapping
from typing import cast

from dsh.agent import TextBlock, Tool, ToolExecution, ToolResult
from dsh.subagent import SubagentService, SubagentStartRequest

__all__ = ["subagent_tool"]

_PARAMETERS = {
    "type": "object",
    "properties": {"description": {"type": "string"}, "prompt": {"type": "string"}},
    "required": ["description", "prompt"],
    "additionalProperties": False,
}


def subagent_tool(subagents: SubagentService, *, provider: str, name: str = "subagent") -> Tool:
    """A tool that delegates to *provider*."""

    async def delegate(execution: ToolExecution) -> ToolResult:
        if execution.agent is None:
            raise RuntimeError("the tool needs a calling agent")
        arguments = cast(Mapping[str, str], execution.arguments)
        request = SubagentStartRequest(
            prompt=arguments["prompt"], parent=execution.agent, label=arguments["description"]
        )
        result = await subagents.run(provider, request)
        if result.completed:
            return ToolResult(content=(TextBlock(text=result.text),))
        text = f"The subagent ended with {result.stop_reason}: {result.detail or ''}"
        return ToolResult(content=(TextBlock(text=text),), is_error=True)

    return Tool(
        name=name,
        description="Delegate a self-contained task to a child agent and wait for its answer.",
        parameters=_PARAMETERS,
        execute=delegate,
        concurrent=True,
    )
