"""Run subagents from an asyncio application, with trio in guest mode or in a thread of its own.

Two sides, and one line between them; every module says on which side it is. Read in this order:

- ``_bridge``: the door, on asyncio's side: `open_bridge` and `Bridge`; ``_run`` is a held run.
- ``_record``: what asyncio's side knows of a run, and ``_holder``: the trio task that holds it.
- ``_side``: trio's main task, from composition to the end; ``_parent`` is who delegates there.
- ``_line``: how one side calls the other; ``_carrier``: what drives trio; ``_waiting``: waits that
  a cancellation cannot cut short. ``_errors``: everything that is raised.

This is the only package of the family that knows asyncio.
"""

from dsh.bridge_asyncio._bridge import Bridge, open_bridge
from dsh.bridge_asyncio._carrier import Mode
from dsh.bridge_asyncio._errors import (
    BridgeClosedError,
    BridgeCrashedError,
    BridgeError,
    BridgeMisuseError,
)
from dsh.bridge_asyncio._parent import BridgeParent
from dsh.bridge_asyncio._run import BridgeRun
from dsh.bridge_asyncio._side import Compose

__all__ = [
    "Bridge",
    "BridgeClosedError",
    "BridgeCrashedError",
    "BridgeError",
    "BridgeMisuseError",
    "BridgeParent",
    "BridgeRun",
    "Compose",
    "Mode",
    "open_bridge",
]
