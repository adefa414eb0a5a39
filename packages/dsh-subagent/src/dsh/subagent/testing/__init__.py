"""For tests of backends and hosts: a parent, a backend that follows a script, the contract.

Read ``_parent`` and ``_scripted``, which a host's tests use too. A backend's own test is
``check_provider(factory, drive)``: ``_drive`` is what it asks of you, ``_kit`` how it goes on, and
the ``_clauses_*`` are the contract, one function a clause.
"""

from dsh.subagent.testing._drive import Behaviour, Drive
from dsh.subagent.testing._kit import CLAUSES, ContractError, ProviderSource, check_provider
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
    "CLAUSES",
    "EVERYTHING",
    "Act",
    "Behaviour",
    "ContractError",
    "Drive",
    "ProviderSource",
    "ScriptedParent",
    "ScriptedProvider",
    "check_provider",
    "fail",
    "hang",
    "linger",
    "refuse",
    "reply",
]
