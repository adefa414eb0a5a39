"""What mounting the tool refuses."""

from dsh.agent import HarnessError

__all__ = ["DuplicateMountError", "SubagentToolConfigError", "SubagentToolError"]


class SubagentToolError(HarnessError):
    """Base of what this package refuses."""


class SubagentToolConfigError(SubagentToolError):
    """The configuration cannot be meant; nothing was mounted. ``keys`` says where."""

    code = "INVALID_CONFIG"

    def __init__(self, problems: dict[str, str]) -> None:
        listed = "; ".join(f"{key}: {problem}" for key, problem in problems.items())
        super().__init__(f"the subagent tool cannot be mounted: {listed}")
        self.keys = tuple(problems)


class DuplicateMountError(SubagentToolError):
    """Another mount of this host has ``tool_name``, be it only waiting; nothing was mounted."""

    code = "DUPLICATE_MOUNT"

    def __init__(self, tool_name: str) -> None:
        super().__init__(
            f"tool_name: this host has a subagent tool {tool_name!r} already; give each its own"
        )
        self.tool_name = tool_name
