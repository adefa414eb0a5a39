"""What the seam refuses, and how a run can fail."""

from dsh.agent import HarnessError

__all__ = [
    "CancelScopeError",
    "DuplicateProviderError",
    "ParentDisposedError",
    "SubagentDepthError",
    "SubagentError",
    "SubagentRunError",
    "SubagentStartCancelledError",
    "SubagentStartError",
    "UnknownProviderError",
    "UnsupportedCapabilityError",
]


class SubagentError(HarnessError):
    """Base of everything the seam refuses."""


class DuplicateProviderError(SubagentError):
    """A provider of that name is registered; nothing changed."""

    code = "DUPLICATE_PROVIDER"

    def __init__(self, name: str) -> None:
        super().__init__(f"a subagent provider named {name!r} is already registered")
        self.name = name


class UnknownProviderError(SubagentError):
    """No provider of that name is registered."""

    code = "NO_PROVIDER"

    def __init__(self, name: str, *, known: tuple[str, ...]) -> None:
        super().__init__(
            f"no subagent provider named {name!r}; registered: {', '.join(known) or 'none'}"
        )
        self.name, self.known = name, known


class UnsupportedCapabilityError(SubagentError):
    """The request asks for something the provider does not offer; nothing was started."""

    code = "UNSUPPORTED_CAPABILITY"

    def __init__(self, provider: str, capability: str) -> None:
        super().__init__(f"subagent provider {provider!r} does not support {capability}")
        self.provider, self.capability = provider, capability


class SubagentDepthError(SubagentError):
    """The child would lie deeper than the request allows; nothing was created."""

    code = "DEPTH_LIMIT"

    def __init__(self, *, attempted_depth: int, max_depth: int) -> None:
        super().__init__(f"a child at depth {attempted_depth} exceeds max_depth={max_depth}")
        self.attempted_depth, self.max_depth = attempted_depth, max_depth


class CancelScopeError(SubagentError):
    """The request's cancel scope cannot be used: one scope, one start."""

    code = "CANCEL_SCOPE"

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"cancel_scope {problem}; give each start a fresh one, for example "
            "trio.CancelScope(relative_deadline=30)"
        )


class ParentDisposedError(SubagentError):
    """The parent has begun to end; it takes no new children."""

    code = "PARENT_DISPOSED"


class SubagentStartError(SubagentError):
    """The child could not be published; the backend has cleaned up."""

    code = "START_FAILED"


class SubagentStartCancelledError(SubagentError):
    """The start was cancelled before publication; nothing was published."""

    code = "START_CANCELLED"


class SubagentRunError(SubagentError):
    """The backend failed after publication; ``__cause__`` is what it raised."""

    code = "RUN_FAILED"
