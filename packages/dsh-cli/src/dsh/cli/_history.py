"""A finished run as a tree, read back from its logs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast, final

from dsh.agent import (
    AssistantMessage,
    CustomEvent,
    PartialMessage,
    ShapeError,
    TextBlock,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
    read_shape,
    thaw_json,
)
from dsh.cli._delegations import Delegation, label_of, text_of, walk
from dsh.cli._errors import BadInputError
from dsh.cli._logs import ARGUMENT, Log
from dsh.cli._record import ENDED, STARTED, End, Start

__all__ = ["read_delegations"]

MILLISECONDS: Final = 1_000


@final
@dataclass(slots=True, kw_only=True)
class _Record:
    """What a parent's log says of a child."""

    parent: str
    began: float
    started: Start
    ended_at: float | None = None
    ended: End | None = None
    told: str | None = None
    """What the parent was told by the call that asked for the child."""

    def waits_for(self, log: Log, event: ToolResulted) -> bool:
        """Whether *event* is the result of that call."""
        mine = (self.parent, self.started.call) == (log.header.id, event.result.call_id)
        return mine and self.told is None


def read_delegations(logs: Sequence[Log]) -> list[Delegation]:
    """Return the trees in *logs*, oldest first; times are seconds since the epoch.

    A log whose parent's log is not there is the root of a tree of its own, as is one that claims
    to descend from itself.

    Raises:
      BadInputError: what a log says of a child cannot be read.
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
        parent = None if _is_own_ancestor(key, parents) else nodes.get(parents[key] or "")
        (roots if parent is None else parent.children).append(node)
    for root in roots:
        _arrange(root)
    return sorted(roots, key=lambda root: root.began)


def _is_own_ancestor(key: str, parents: Mapping[str, str | None]) -> bool:
    seen = set[str]()
    above = parents.get(key)
    while above is not None and above not in seen and above != key:
        seen.add(above)
        above = parents.get(above)
    return above == key


def _records(logs: Iterable[Log]) -> dict[str, _Record]:
    records: dict[str, _Record] = {}
    for log in logs:
        for event in log.own_events:
            if isinstance(event, ToolResulted) and not event.result.is_error:
                asked = next((r for r in records.values() if r.waits_for(log, event)), None)
                if asked is not None:
                    asked.told = text_of(event.result.content)
            if not isinstance(event, CustomEvent):
                continue
            at, told = event.time / MILLISECONDS, _told(event, log)
            if isinstance(told, Start):
                records[told.child] = _Record(parent=log.header.id, began=at, started=told)
            elif isinstance(told, End) and told.child in records:
                record = records[told.child]
                record.ended_at, record.ended = at, told
    return records


def _told(event: CustomEvent, log: Log) -> Start | End | None:
    """What *event* says of a child, if it does."""
    kind = {STARTED: Start, ENDED: End}.get(event.kind)
    if kind is None:
        return None
    try:
        return cast("Start | End", read_shape(kind, thaw_json(event.data), "data"))
    except ShapeError as exc:
        problem = f"{log.path}: what it says of a child cannot be read: {exc}"
        raise BadInputError(ARGUMENT, problem) from exc


def _of_record(child: str, record: _Record) -> Delegation:
    """A child without a log here: all that is known is what its parent wrote down."""
    found = Delegation(
        id=child,
        provider=record.started.provider,
        label=record.started.label or "",
        began=record.began,
    )
    if (ended := record.ended) is not None:
        found.usage = ended.usage
        found.model_requests, found.tool_calls = ended.model_requests, ended.tool_calls
    _end(found, record)
    return found


def _of_log(log: Log, record: _Record | None) -> Delegation:
    own = log.own_events
    answers = [event for event in own if isinstance(event, AssistantMessage)]
    began = own[0].time if own else log.header.created_at
    found = Delegation(
        id=log.header.id,
        provider="" if record is None else record.started.provider,
        label=(record.started.label if record is not None else None) or _prompt(log),
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
    found.stop_reason = found.stop_reason or "interrupted"
    if (ended := record.ended) is not None:
        found.stop_reason, found.detail, found.text = ended.stop_reason, ended.detail, ended.text
    found.text = record.told or found.text


def _arrange(root: Delegation) -> None:
    """Put children in the order in which they began, and add what they cost to their parents."""
    for found in reversed(list(walk([root]))):  # children before their parents
        for child in found.children:
            found.usage += child.usage
            found.model_requests += child.model_requests
            found.tool_calls += child.tool_calls
        found.children.sort(key=lambda child: child.began)
