"""The reference loop: agents that take turns on trio.

Read ``_host`` and ``_opened_host`` (what a host is composed of, and its time), ``_agent`` (an
agent's life), ``_inbox`` (what waits for it) and ``_driver`` (who runs its turns), then ``_turn``:
the turn and its steps, the loop proper, on one page. The page leans on ``_open_turn`` (what a turn
writes down), ``_prompts`` (what opens it), ``_asking`` (one model request), ``_repair`` (what a
model may get wrong) and ``_calls`` (the tool calls of a response).
"""

from dsh.agent_loop._errors import AgentLoopError, NoModelError
from dsh.agent_loop._host import Host
from dsh.agent_loop._opened_host import OpenedHost, open_host

__all__ = ["AgentLoopError", "Host", "NoModelError", "OpenedHost", "open_host"]
