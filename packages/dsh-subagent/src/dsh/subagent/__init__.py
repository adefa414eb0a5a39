"""The subagent seam: delegate work to a child agent through a named backend.

Read ``_request`` and ``_result`` (what is asked, what comes back), ``_provider`` (the contract of a
backend), ``_run`` (the supervisor that owns a child), ``_service`` (the door), then ``_events`` and
``_errors``.
"""

from dsh.subagent._errors import (
    CancelScopeError,
    DuplicateProviderError,
    ParentDisposedError,
    SubagentDepthError,
    SubagentError,
    SubagentRunError,
    SubagentStartCancelledError,
    SubagentStartError,
    UnknownProviderError,
    UnsupportedCapabilityError,
)
from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._provider import (
    Publish,
    RunReporter,
    SubagentCapabilities,
    SubagentProvider,
)
from dsh.subagent._request import DelegatingParent, ResolvedRequest, SubagentStartRequest
from dsh.subagent._result import SubagentResult
from dsh.subagent._run import SubagentRun
from dsh.subagent._service import SubagentService

__all__ = [
    "CancelScopeError",
    "DelegatingParent",
    "DuplicateProviderError",
    "ParentDisposedError",
    "Publish",
    "ResolvedRequest",
    "RunEnded",
    "RunReporter",
    "RunStarted",
    "SubagentCapabilities",
    "SubagentDepthError",
    "SubagentError",
    "SubagentProvider",
    "SubagentResult",
    "SubagentRun",
    "SubagentRunError",
    "SubagentService",
    "SubagentStartCancelledError",
    "SubagentStartError",
    "SubagentStartRequest",
    "UnknownProviderError",
    "UnsupportedCapabilityError",
]
