"""Backend that delegates to an agent in its own process, over the Agent Client Protocol.

In which order to read it:

- ``_config`` and ``_presets``: which agent, and how it is started and ended.
- ``_process`` and ``_group``: a process, and the ladder that ends all of its group.
- ``_connection`` and ``_lines``: JSON-RPC over its pipes; ``_agent`` holds both for a block.
- ``_protocol`` and ``_reading``: the messages; ``_updates`` is what those of a turn amount to.
- ``_handshake``, then ``_session``: from a process to turns; ``_permission`` and ``_desk`` answer
  what it asks, ``_structured`` gets JSON from it.
- ``_run``: all of it in order, with ``_demands`` (what a request may hold), ``_outcome`` (what
  comes back), ``_environment`` and ``_directories``. ``_provider`` and ``_factory`` are the doors.
- ``_errors``: everything that is raised.
"""

from dsh.subagent_acp._config import AcpConfig
from dsh.subagent_acp._errors import AcpError, AcpPromptError, AcpStartError
from dsh.subagent_acp._factory import AcpFactory, factory
from dsh.subagent_acp._permission import (
    Approver,
    PermissionOption,
    PermissionProgress,
    PermissionRequest,
)
from dsh.subagent_acp._presets import PRESETS, Preset, preset
from dsh.subagent_acp._provider import AcpProvider

__all__ = [
    "PRESETS",
    "AcpConfig",
    "AcpError",
    "AcpFactory",
    "AcpPromptError",
    "AcpProvider",
    "AcpStartError",
    "Approver",
    "PermissionOption",
    "PermissionProgress",
    "PermissionRequest",
    "Preset",
    "factory",
    "preset",
]
