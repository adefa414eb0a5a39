"""The subagent seam: delegate work to a child agent through a named backend.

In which order to read it:

- ``_parent``, ``_request`` and ``_result``: who asks, what is asked, what comes back.
- ``_progress`` and ``_events``: what is told while it runs.
- ``_provider``: the contract of a backend; ``_resolved`` is the request as a backend sees it.
- ``_supervisor``: who holds a backend to it, with the table of every way a run can go. Its parts
  are ``_child`` and ``_completion`` (settling), ``_run`` (the handle), ``_ending`` (cancelled, or a
  bug?).
- ``_service``: the door; ``_admission`` is what it refuses and what it copies.
- ``_factory``: backends that come as plugins. ``_errors``: everything that is raised.

``dsh.subagent.testing`` has a provider that follows a script, and the contract as a test.
"""

from dsh.subagent._errors import (
    CancelScopeError,
    DuplicateProviderError,
    ParentDisposedError,
    SubagentDepthError,
    SubagentError,
    SubagentPublishError,
    SubagentRunError,
    SubagentSelfCloseError,
    SubagentStartCancelledError,
    SubagentStartError,
    UnknownProviderError,
    UnsupportedCapabilityError,
)
from dsh.subagent._events import ProviderAdded, ProviderRemoved, RunEnded, RunStarted
from dsh.subagent._factory import (
    ProviderFactory,
    ProviderHost,
    discover_providers,
)
from dsh.subagent._parent import DelegatingParent
from dsh.subagent._progress import (
    Progress,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
    UsageProgress,
)
from dsh.subagent._provider import (
    ProviderDescriptor,
    Publish,
    RunReporter,
    SubagentCapabilities,
    SubagentProvider,
)
from dsh.subagent._request import SubagentStartRequest
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult
from dsh.subagent._run import SubagentRun
from dsh.subagent._service import SubagentService

__all__ = [
    "CancelScopeError",
    "DelegatingParent",
    "DuplicateProviderError",
    "ParentDisposedError",
    "Progress",
    "ProviderAdded",
    "ProviderDescriptor",
    "ProviderFactory",
    "ProviderHost",
    "ProviderRemoved",
    "Publish",
    "ResolvedRequest",
    "RunEnded",
    "RunReporter",
    "RunStarted",
    "SubagentCapabilities",
    "SubagentDepthError",
    "SubagentError",
    "SubagentProvider",
    "SubagentPublishError",
    "SubagentResult",
    "SubagentRun",
    "SubagentRunError",
    "SubagentSelfCloseError",
    "SubagentService",
    "SubagentStartCancelledError",
    "SubagentStartError",
    "SubagentStartRequest",
    "TextProgress",
    "ThoughtProgress",
    "ToolEndedProgress",
    "ToolStartedProgress",
    "UnknownProviderError",
    "UnsupportedCapabilityError",
    "UsageProgress",
    "discover_providers",
]
