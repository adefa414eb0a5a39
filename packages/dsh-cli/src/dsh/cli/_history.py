"""A finished run as a tree, read back from its logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast, final

from dsh.agent import (
    AssistantMessage,
    CustomEvent,
    PartialMessage,
    TextBlock,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
)
from dsh.cli._delegations import Delegation, label_of, text_of
from dsh.cli._logs import Log
from dsh.cli._record import ENDED, STARTED

__all__ = ["read_delegations"]

MILLISECONDS: Final = 1_000


@final
@dataclass(slots=True, kw_only=True)
class _Record:
    """What a parent's log says of a child."""

    parent: str
    began: float
    started: Mapping[str, Any]
    ended_at: float | None = None
    ended: Mapping[str, Any] = field(default_factory=dict[str, Any])
    told: str | None = None
    """What the parent was told by the call that asked for the child."""

    def waits_for(self, log: Log, event: ToolResulted) -> bool:
        """Whether *event* is the result of that call."""
        mine = (self.parent, self.started["call"]) == (log.header.id, event.result.call_id)
        return mine and self.told is None


def read_delegations(logs: Sequence[Log]) -> list[Delegation]:
    """Return the trees in *logs*, oldest first; times are seconds since the epoch.

    A log whose parent's log is not there is the root of a tree of its own.
    """
    records = _records(logs)
    nodes: dict[str, Delegation] = {
        log.header.id: _of_log(log, records.get(log.header.id)) for log in logs
    }
    parents: dict[str, str | None] = {log.header.id: log.header.parent_session for log in logs}
    for child, record in records.items():
        if child not in nodes:
            nodes[child] = _of_record(child, record)
            parents[child] = record.parent
    roots: list[Delegation] = []
    for key, node in nodes.items():
        parent = nodes.get(parents[key] or "")
        (roots if parent is None else parent.children).append(node)
    for root in roots:
        _arrange(root)
    return sorted(roots, key=lambda root: root.began)


def _records(logs: Iterable[Log]) -> dict[str, _Record]:
    records: dict[str, _Record] = {}
    for log in logs:
        for event in log.own_events:
            if isinstance(event, ToolResulted) and not event.result.is_error:
                asked = next((r for r in records.values() if r.waits_for(log, event)), None)
                if asked is not None:
                    asked.told = text_of(event.result.content)
            if not isinstance(event, CustomEvent) or event.kind not in (STARTED, ENDED):
                continue
            data = cast("Mapping[str, Any]", event.data)
            at = event.time / MILLISECONDS
            if event.kind == STARTED:
                records[data["child"]] = _Record(parent=log.header.id, began=at, started=data)
            elif data["child"] in records:
                record = records[data["child"]]
                record.ended_at, record.ended = at, data
    return records


def _of_record(child: str, record: _Record) -> Delegation:
    """A child without a log here: all that is known is what its parent wrote down."""
    ended = record.ended
    found = Delegation(
        id=child,
        provider=record.started["provider"],
        label=record.started["label"] or "",
        began=record.began,
        model_requests=ended.get("model_requests", 0),
        tool_calls=ended.get("tool_calls", 0),
        usage=Usage(**ended.get("usage", {})),
    )
    _end(found, record)
    return found


def _of_log(log: Log, record: _Record | None) -> Delegation:
    own = log.own_events
    answers = [event for event in own if isinstance(event, AssistantMessage)]
    began = own[0].time if own else log.header.created_at
    found = Delegation(
        id=log.header.id,
        provider="" if record is None else record.started["provider"],
        label=(record.started["label"] if record is not None else None) or _prompt(log),
        began=began / MILLISECONDS,
        ended=(own[-1].time if own else began) / MILLISECONDS,
        usage=sum((answer.usage for answer in answers), Usage()),
        model_requests=len(answers),
        tool_calls=sum(isinstance(event, ToolCalled) for event in own),
    )
    _end_of_log(found, log)
    if record is not None:
        _end(found, record)
    return found


def _prompt(log: Log) -> str:
    """The beginning of what its agent was first asked; a fork is told something before that."""
    for event in log.own_events:
        if isinstance(event, UserMessage):
            texts = [block for block in event.message.content if isinstance(block, TextBlock)]
            return label_of(text_of(texts[-1:]))
    return ""


def _end_of_log(found: Delegation, log: Log) -> None:
    """What the log itself says of its agent's end."""
    found.stop_reason = "interrupted"
    for event in log.own_events:
        if isinstance(event, TurnStarted):
            found.stop_reason, found.detail = "interrupted", None
        elif isinstance(event, TurnEnded):
            found.stop_reason, found.detail = event.reason, event.detail
        elif isinstance(event, AssistantMessage):
            found.text = text_of(event.message.content) or found.text
        elif isinstance(event, PartialMessage):
            found.text = event.text


def _end(found: Delegation, record: _Record) -> None:
    """What its holder was told, which counts for more than what it did itself."""
    found.ended = record.ended_at if record.ended_at is not None else found.ended
    found.stop_reason = record.ended.get("stop_reason", found.stop_reason or "interrupted")
    found.detail = record.ended.get("detail", found.detail)
    found.text = record.told or record.ended.get("text", found.text)


def _arrange(root: Delegation) -> None:
    """Put children in the order in which they began, and add what they cost to their parents."""
    for child in root.children:
        _arrange(child)
        root.usage += child.usage
        root.model_requests += child.model_requests
        root.tool_calls += child.tool_calls
    root.children.sort(key=lambda child: child.began)
