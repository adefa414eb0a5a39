"""Names of things that outlive the objects they name."""

from typing import NewType

__all__ = ["AgentId", "SessionId"]

AgentId = NewType("AgentId", str)
"""Names one agent for as long as its host lives."""

SessionId = NewType("SessionId", str)
"""Names one session log, on disk too."""
