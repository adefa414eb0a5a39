"""The reference loop: agents that take turns on trio.

Read ``_host`` (what a host is composed of), ``_agent`` (an agent's life), then ``_turn`` (a turn
and its steps, the loop proper).
"""

from dsh.agent_loop._host import Host, open_host

__all__ = ["Host", "open_host"]
