"""For tests of backends and hosts: a parent, a backend that follows a script, the contract.

Read ``_parent`` and ``_scripted``.
"""

from dsh.subagent.testing._parent import ScriptedParent
from dsh.subagent.testing._scripted import (
    EVERYTHING,
    Act,
    ScriptedProvider,
    fail,
    hang,
    linger,
    refuse,
    reply,
)

__all__ = [
    "EVERYTHING",
    "Act",
    "ScriptedParent",
    "ScriptedProvider",
    "fail",
    "hang",
    "linger",
    "refuse",
    "reply",
]
