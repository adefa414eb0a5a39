"""For tests of hosts and backends: a model that follows a script, and legal logs.

Read ``_scripted`` (the model), ``_steps`` (what its scripts are made of) and ``_logs``.
"""

from dsh.agent.testing._logs import completed_turn, interrupted_turn
from dsh.agent.testing._scripted import ScriptedModel
from dsh.agent.testing._steps import (
    Failure,
    Hang,
    Script,
    Step,
    call,
    call_raw,
    fail,
    hang,
    reply,
    say,
    think,
)

__all__ = [
    "Failure",
    "Hang",
    "Script",
    "ScriptedModel",
    "Step",
    "call",
    "call_raw",
    "completed_turn",
    "fail",
    "hang",
    "interrupted_turn",
    "reply",
    "say",
    "think",
]
