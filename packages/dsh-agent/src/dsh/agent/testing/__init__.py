"""For tests of hosts and backends: a model that follows a script."""

from dsh.agent.testing._scripted import ScriptedModel, call, fail, hang, say

__all__ = ["ScriptedModel", "call", "fail", "hang", "say"]
