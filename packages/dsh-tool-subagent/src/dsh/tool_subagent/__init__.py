"""The delegation tool."""

from dsh.tool_subagent._tool import subagent_tool

__all__ = ["subagent_tool"]
