"""How much of a fork's requests begins as its parent's did. Pure.

What a provider caches is a prefix: tools, then system text, then messages. One difference ends it.
"""

from itertools import takewhile
from typing import Final

from dsh.agent import (
    Agent,
    AssistantMessage,
    CustomEvent,
    EventLogged,
    PartialMessage,
    Registration,
    RequestHeader,
    SessionPrefix,
)

__all__ = ["PREFIX_EVENT", "report_prefix", "shared_prefix"]

PREFIX_EVENT: Final = "subagent-fork/prefix"
"""The kind of the `CustomEvent` in a fork's log that says how long the shared prefix is."""


def shared_prefix(
    ours: RequestHeader, theirs: RequestHeader, *, inherited_messages: int
) -> dict[str, int]:
    """Return how many tools, characters of system text and messages both begin with.

    Each counts only where everything before it is the same on both sides.
    """
    mine, other = ours.tools or (), theirs.tools or ()
    tools = sum(1 for _ in takewhile(_is_pair, zip(mine, other, strict=False)))
    if tools < max(len(mine), len(other)):
        return {"tools": tools, "system": 0, "messages": 0}
    text, others = ours.system or "", theirs.system or ""
    system = sum(1 for _ in takewhile(_is_pair, zip(text, others, strict=False)))
    if system < max(len(text), len(others)):
        return {"tools": tools, "system": system, "messages": 0}
    return {"tools": tools, "system": system, "messages": inherited_messages}


def _is_pair(pair: tuple[object, object]) -> bool:
    return pair[0] == pair[1]


def report_prefix(seed: SessionPrefix, theirs: RequestHeader, child: Agent) -> None:
    """Have *child* write into its log what its first request shares with its parent's last."""
    registration: Registration

    def note(logged: EventLogged) -> None:
        ours = logged.agent.session.request_header
        if ours is None or not isinstance(
            logged.event, RequestHeader | AssistantMessage | PartialMessage
        ):
            return
        registration.close()
        shared = shared_prefix(ours, theirs, inherited_messages=len(seed.messages))
        logged.agent.session.append(CustomEvent(kind=PREFIX_EVENT, data=shared))

    registration = child.hooks.on(EventLogged, note)
