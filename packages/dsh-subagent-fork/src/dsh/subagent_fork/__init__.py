"""Delegate to a child agent in this process that knows what its parent knew when its turn began.

Read ``_provider``; ``_seed`` is what a child takes over and ``_prefix`` how much of its requests a
provider's cache may know; the rest is the driver of ``dsh.subagent_inprocess``. ``_factory`` is for
hosts that find their backends by entry point.
"""

from dsh.subagent_fork._errors import ForkParentError
from dsh.subagent_fork._factory import ForkConfig, ForkFactory, factory
from dsh.subagent_fork._prefix import PREFIX_EVENT
from dsh.subagent_fork._provider import ForkProvider

__all__ = [
    "PREFIX_EVENT",
    "ForkConfig",
    "ForkFactory",
    "ForkParentError",
    "ForkProvider",
    "factory",
]
