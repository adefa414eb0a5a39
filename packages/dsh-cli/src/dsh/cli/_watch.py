"""A run as it goes on, as a tree that grows."""

import time
from collections.abc import Callable
from typing import Final, final

from dsh.agent import AgentId, DelegatedUsage, Hooks, ToolFinished
from dsh.cli._delegations import Delegation, text_of
from dsh.subagent import (
    Progress,
    RunEnded,
    RunStarted,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
    UsageProgress,
)

__all__ = ["Change", "Watch"]

Change = Callable[[Delegation, str], object]
"""Called with a delegation that changed, and with news of it in words, or with none."""

STARTED: Final = "started"


@final
class Watch:
    """Follows every run of a host. It only listens.

    Args:
      hooks: the host's.
      changed: told of every change.
    """

    def __init__(self, hooks: Hooks, changed: Change) -> None:
        self.roots: list[Delegation] = []
        self._known: dict[AgentId, Delegation] = {}
        self._calls: dict[AgentId, dict[str, str]] = {}
        """The calls under way of each agent: id to tool."""
        self._asked: dict[tuple[AgentId, str | None], Delegation] = {}
        """Who was started by which call of whom."""
        self._changed = changed
        hooks.on(RunStarted, self._note_start)
        hooks.on(RunEnded, self._note_end)
        hooks.on(DelegatedUsage, self._note_total)
        hooks.on(TextProgress, self._note_text)
        hooks.on(ThoughtProgress, self._note_thought)
        hooks.on(ToolStartedProgress, self._note_call)
        hooks.on(ToolEndedProgress, self._note_result)
        hooks.on(UsageProgress, self._note_usage)
        hooks.on(ToolFinished, self._note_told)

    @property
    def now(self) -> float:
        """The clock of this tree."""
        return time.monotonic()

    def _note_start(self, event: RunStarted) -> None:
        found = Delegation(
            id=event.child_id, provider=event.provider, label=event.label or "", began=self.now
        )
        self._known[event.child_id] = found
        self._calls[event.child_id] = {}
        self._asked[event.parent_id, event.parent_call_id] = found
        parent = self._known.get(event.parent_id)
        (self.roots if parent is None else parent.children).append(found)
        self._changed(found, STARTED)

    def _note_end(self, event: RunEnded) -> None:
        found = self._known[event.child_id]
        found.ended = self.now
        found.stop_reason, found.detail = event.stop_reason, event.detail
        found.text = text_of(event.output or ())
        self._changed(found, event.stop_reason)

    def _note_total(self, event: DelegatedUsage) -> None:
        found = self._known[event.child_id]
        found.usage = event.usage
        found.model_requests, found.tool_calls = event.model_requests, event.tool_calls

    def _note_text(self, event: TextProgress) -> None:
        self._note_doing(event, "writing")

    def _note_thought(self, event: ThoughtProgress) -> None:
        self._note_doing(event, "thinking")

    def _note_doing(self, event: Progress, doing: str) -> None:
        found = self._known[event.child_id]
        if found.doing != doing:
            found.doing = doing
            self._changed(found, "")

    def _note_call(self, event: ToolStartedProgress) -> None:
        found, calls = self._known[event.child_id], self._calls[event.child_id]
        calls[event.call_id] = event.name
        found.tool_calls += 1
        found.doing = _calling(calls)
        self._changed(found, f"calls {event.name}")

    def _note_result(self, event: ToolEndedProgress) -> None:
        found, calls = self._known[event.child_id], self._calls[event.child_id]
        calls.pop(event.call_id, None)
        found.doing = _calling(calls) if calls else "thinking"
        self._changed(found, f"{event.name} failed" if event.is_error else "")

    def _note_usage(self, event: UsageProgress) -> None:
        found = self._known[event.child_id]
        found.usage = event.usage
        found.model_requests += 1
        self._changed(found, "")

    def _note_told(self, event: ToolFinished) -> None:
        """What a child returned is what its parent was told, which has a structured answer too."""
        execution = event.execution
        agent = execution.agent
        found = self._asked.pop((agent.id, execution.call_id), None) if agent is not None else None
        if found is not None and found.stop_reason == "completed":
            found.text = text_of(event.result.content)


def _calling(calls: dict[str, str]) -> str:
    return f"calls {', '.join(dict.fromkeys(calls.values()))}"
