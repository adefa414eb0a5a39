"""For tests of hosts and backends: a model that follows a script, and legal logs."""

from dsh.agent.testing._logs import completed_turn, interrupted_turn
from dsh.agent.testing._scripted import ScriptedModel, call, fail, hang, say

__all__ = ["ScriptedModel", "call", "completed_turn", "fail", "hang", "interrupted_turn", "say"]
