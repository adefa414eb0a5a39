"""The delegation tool: what a parent's model calls to have a child do something.

Read ``_config`` (what a host decides), ``_mount`` (when the tool is there, and for whom), ``_tool``
(a call, from its arguments to its result), ``_rendering`` (what the parent's model is told), then
``_quoting``, which keeps a child's words from passing for ours. What models read is in ``prose``.
"""

from dsh.tool_subagent._config import SubagentToolConfig, ToolFilterConfig
from dsh.tool_subagent._errors import (
    DuplicateMountError,
    SubagentToolConfigError,
    SubagentToolError,
)
from dsh.tool_subagent._mount import ToolHost, mount_subagent_tool

__all__ = [
    "DuplicateMountError",
    "SubagentToolConfig",
    "SubagentToolConfigError",
    "SubagentToolError",
    "ToolFilterConfig",
    "ToolHost",
    "mount_subagent_tool",
]
