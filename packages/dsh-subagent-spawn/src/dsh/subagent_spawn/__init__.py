"""Delegate to a fresh child agent in this process.

Read ``_provider``, then the driver in ``dsh.subagent_inprocess``; ``_factory`` is for hosts that
find their backends by entry point.
"""

from dsh.subagent_spawn._factory import SpawnConfig, SpawnFactory, factory
from dsh.subagent_spawn._provider import SpawnProvider

__all__ = ["SpawnConfig", "SpawnFactory", "SpawnProvider", "factory"]
