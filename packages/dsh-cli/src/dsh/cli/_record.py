"""What a parent's log says of its children, so that a tree can be read back from logs alone.

A child in a process of its own has no log here; and a child's log says neither which backend it
ran on nor what its holder got. Both are written into the log of whoever asked for it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Protocol, final

from dsh.agent import AgentId, AgentRegistry, CustomEvent, DelegatedUsage, Hooks, Usage
from dsh.cli._delegations import text_of
from dsh.subagent import RunEnded, RunStarted

__all__ = ["ENDED", "STARTED", "End", "Start", "record_delegations"]

STARTED: Final = "dsh.cli/run-started"
ENDED: Final = "dsh.cli/run-ended"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a log says of a child's start."""

    child: str
    provider: str
    label: str | None
    call: str | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What a log says of a child's end; the counts only where they are known."""

    child: str
    stop_reason: str
    detail: str | None
    text: str
    usage: Usage = Usage()
    model_requests: int = 0
    tool_calls: int = 0


class _Host(Protocol):
    @property
    def agents(self) -> AgentRegistry: ...
    @property
    def hooks(self) -> Hooks: ...


def record_delegations(host: _Host) -> None:
    """Have every agent of *host* log the runs that it starts, for as long as the host lives."""
    record = _Record(host.agents)
    host.hooks.on(RunStarted, record.note_start)
    host.hooks.on(DelegatedUsage, record.note_usage)
    host.hooks.on(RunEnded, record.note_end)


@final
class _Record:
    def __init__(self, agents: AgentRegistry) -> None:
        self._agents = agents
        self._used: dict[AgentId, DelegatedUsage] = {}

    def note_start(self, event: RunStarted) -> None:
        self._append(
            event.parent_id,
            STARTED,
            {
                "child": event.child_id,
                "provider": event.provider,
                "label": event.label,
                "call": event.parent_call_id,
            },
        )

    def note_usage(self, event: DelegatedUsage) -> None:
        self._used[event.child_id] = event

    def note_end(self, event: RunEnded) -> None:
        used = self._used.pop(event.child_id, None)
        data: dict[str, object] = {
            "child": event.child_id,
            "stop_reason": event.stop_reason,
            "detail": event.detail,
            "text": text_of(event.output or ()),
        }
        if used is not None:
            data["usage"] = asdict(used.usage)
            data["model_requests"] = used.model_requests
            data["tool_calls"] = used.tool_calls
        self._append(event.parent_id, ENDED, data)

    def _append(self, parent_id: AgentId, kind: str, data: Mapping[str, object]) -> None:
        parent = self._agents.get(parent_id)
        if parent is not None:  # the user has no log
            parent.session.append(CustomEvent(kind=kind, data=data))
