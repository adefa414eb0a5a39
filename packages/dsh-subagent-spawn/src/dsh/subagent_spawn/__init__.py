"""Delegate to a fresh child agent in this process."""

from dsh.subagent_spawn._provider import SpawnProvider

__all__ = ["SpawnProvider"]
