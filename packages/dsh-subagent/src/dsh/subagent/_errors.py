"""What the seam refuses, and how a run can fail. All of it is a `SubagentError`."""

from dsh.agent import HarnessError, message_of

__all__ = [
    "CancelScopeError",
    "DuplicateProviderError",
    "ParentDisposedError",
    "SubagentDepthError",
    "SubagentError",
    "SubagentPublishError",
    "SubagentRunError",
    "SubagentSelfCloseError",
    "SubagentStartCancelledError",
    "SubagentStartError",
    "UnknownProviderError",
    "UnsupportedCapabilityError",
    "described",
]


class SubagentError(HarnessError):
    """Base of everything the seam refuses."""


class DuplicateProviderError(SubagentError):
    """A provider of that ``name`` is registered; nothing changed."""

    code = "DUPLICATE_PROVIDER"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"a subagent provider named {name!r} is already registered; close its registration "
            "first, or register this one under another name"
        )
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

    def __init__(
        self, provider: str, capability: str, *, field: str, supported: tuple[str, ...]
    ) -> None:
        super().__init__(
            f"subagent provider {provider!r} does not support {capability}, which the request's "
            f"{field} needs; it supports: {', '.join(supported) or 'no optional field'}"
        )
        self.provider, self.capability, self.field = provider, capability, field


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
    """The parent ``parent_id`` has begun to end; it takes no new children."""

    code = "PARENT_DISPOSED"

    def __init__(self, parent_id: str) -> None:
        super().__init__(f"agent {parent_id!r} has begun to end and takes no new children")
        self.parent_id = parent_id


class SubagentStartError(SubagentError):
    """The start failed before publication; ``__cause__`` is what the backend raised, if it did."""

    code = "START_FAILED"


class SubagentStartCancelledError(SubagentError):
    """The start was cancelled before publication; nothing was published."""

    code = "START_CANCELLED"


class SubagentPublishError(SubagentError):
    """A backend published a second time, or after its `serve` had ended; nothing changed."""

    code = "PUBLISH_MISUSED"


class SubagentSelfCloseError(SubagentError):
    """The run of ``child_id`` was closed from inside itself; nothing was cancelled."""

    code = "SELF_CLOSE"

    def __init__(self, child_id: str) -> None:
        super().__init__(
            f"run {child_id!r} was closed from inside itself and would wait for itself for good; "
            "cancel() it there, and close it where it was started"
        )
        self.child_id = child_id


class SubagentRunError(SubagentError):
    """The backend failed after publication; ``__cause__`` is what it raised."""

    code = "RUN_FAILED"

    def __init__(self, provider: str, child_id: str, cause: BaseException) -> None:
        super().__init__(
            f"subagent provider {provider!r} failed while serving child {child_id!r}: "
            f"{described(cause)}"
        )
        self.provider, self.child_id = provider, child_id
        self.__cause__ = cause


def described(error: BaseException) -> str:
    """Name a foreign *error* in a message, whatever its ``__str__`` does."""
    name = type(error).__name__
    text = message_of(error)
    if text is None:
        return f"{name} (its message cannot be rendered)"
    return f"{name}: {text}" if text else name
