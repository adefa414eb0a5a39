"""What is printed once a run is over: the answer on standard output, all else on standard error."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self, final

from dsh.agent import SessionId, Usage
from dsh.cli._asking import Asking
from dsh.cli._composition import Parts
from dsh.cli._delegations import as_json, walk
from dsh.cli._printable import counted, on_one_line, written
from dsh.cli._streams import say
from dsh.cli._watch import Watch
from dsh.subagent import SubagentResult

__all__ = ["JSON_VERSION", "Answer", "print_answer"]

JSON_VERSION = 1
"""Of the object that ``--json`` prints: it grows within a version, nothing in it changes."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a run."""

    stop_reason: str
    text: str = ""
    structured: object = None
    detail: str | None = None
    usage: Usage = Usage()
    model_requests: int = 0
    tool_calls: int = 0
    seconds: float = 0.0
    lost: Mapping[SessionId, str] = field(default_factory=dict[SessionId, str])
    """Which logs were not kept whole, and why."""

    @classmethod
    def of(cls, result: SubagentResult[Any]) -> Self:
        """What the user's own agent came to; where nobody counted, nothing was used."""
        return cls(
            stop_reason=result.stop_reason,
            text=result.text,
            structured=result.structured,
            detail=result.detail,
            usage=result.usage or Usage(),
            model_requests=result.model_requests or 0,
            tool_calls=result.tool_calls or 0,
            seconds=result.seconds,
        )

    @property
    def completed(self) -> bool:
        """Whether the agent did what it was asked."""
        return self.stop_reason == "completed"


def print_answer(answer: Answer, watch: Watch, parts: Parts, asking: Asking) -> None:
    """Print *answer*, and what it took.

    An answer that is not whole goes to standard error, said to be partial: what reads standard
    output never takes it for one.
    """
    if asking.children and not asking.json:
        _print_children(watch)
    if asking.json:
        _print_json(answer, watch, parts)
    elif answer.completed:
        whole = answer.text if answer.structured is None else _indented(answer.structured)
        written(sys.stdout, f"{whole}\n")
    elif answer.text:
        say(f"partial answer:\n{answer.text}\n")
    _print_summary(answer, watch, parts)


def _print_children(watch: Watch) -> None:
    for root in watch.roots:
        for found in walk(root.children):
            title = f"{on_one_line(found.label)} [{found.provider}]: {found.state}"
            written(sys.stdout, f"{title}\n{found.text or '(nothing)'}\n\n")


def _print_summary(answer: Answer, watch: Watch, parts: Parts) -> None:
    took = (
        f"{counted(answer.model_requests, 'request')} to {parts.model.shown}, "
        f"{counted(answer.tool_calls, 'tool call')}, "
        f"{counted(answer.usage.total_tokens, 'token')}, {answer.seconds:.1f} s"
    )
    why = "" if answer.detail is None else f": {on_one_line(answer.detail)}"
    say(f"dsh: {answer.stop_reason}{why} ({took})\n")
    cut = [each.label for each in walk(watch.roots) if each.stop_reason == "aborted"]
    if cut:
        say(f"dsh: cancelled: {'; '.join(map(on_one_line, cut))}\n")
    if answer.lost:
        why = "; ".join(dict.fromkeys(map(on_one_line, answer.lost.values())))
        say(f"dsh: {counted(len(answer.lost), 'log')} not kept whole: {why}\n")
    if parts.log is not None:
        say(f"dsh: logs are in {parts.log}; see dsh show {parts.log}\n")


def _print_json(answer: Answer, watch: Watch, parts: Parts) -> None:
    data = {
        "version": JSON_VERSION,
        "completed": answer.completed,
        **asdict(answer),
        "model": parts.model.shown,
        "log": None if parts.log is None else str(parts.log),
        "tree": [as_json(root, watch.now) for root in watch.roots],
    }
    written(sys.stdout, f"{_indented(data)}\n")


def _indented(data: object) -> str:
    return json.dumps(data, indent=2)
