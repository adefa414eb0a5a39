"""Test support: the seam's scripted provider under a package name of its own. Never published.

Read ``_factory``: the provider as a plugin, made from a host's configuration. What it is made of
is ``dsh.subagent.testing``; everything a script needs is exported here again.
"""

from dsh.subagent.testing import (
    EVERYTHING,
    Act,
    ScriptedProvider,
    fail,
    hang,
    linger,
    refuse,
    reply,
)
from dsh.subagent_mock._factory import MockConfig, MockFactory, factory

__all__ = [
    "EVERYTHING",
    "Act",
    "MockConfig",
    "MockFactory",
    "ScriptedProvider",
    "factory",
    "fail",
    "hang",
    "linger",
    "refuse",
    "reply",
]
