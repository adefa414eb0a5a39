"""A run as one HTML page that needs nothing else: no server, no script, no font."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from dsh.agent import AssistantMessage
from dsh.cli._conversation import turns
from dsh.cli._delegations import Delegation, walk
from dsh.cli._drawing import totals
from dsh.cli._logs import Log
from dsh.cli._printable import counted, printable

__all__ = ["page"]

_CLASSES = ("completed", "aborted", "timeout")


def page(roots: Sequence[Delegation], logs: Sequence[Log]) -> str:
    """Return the page of the trees *roots*, which were read from *logs*."""
    by_id: Mapping[str, Log] = {log.header.id: log for log in logs}
    agents = counted(len(list(walk(roots))), "agent")
    template = files("dsh.cli").joinpath("page.html").read_text(encoding="utf-8")
    return Template(template).substitute(
        title=_safe(roots[0].label or "A run") if len(roots) == 1 else f"{len(roots)} runs",
        summary=f"{agents}; {'; '.join(totals(root, 0.0) for root in roots)}",
        tree="".join(_items(roots, by_id)),
        timeline="\n".join(_timeline(roots, by_id)),
    )


def _items(roots: Sequence[Delegation], logs: Mapping[str, Log]) -> Iterator[str]:
    """Yield the tree as nested lists, however deep they nest."""
    waiting: list[Delegation | str] = [*reversed(roots)]
    while waiting:
        found = waiting.pop()
        if isinstance(found, str):
            yield found
            continue
        yield _item(found, logs)
        waiting.append("</ul></li>\n" if found.children else "</li>\n")
        if found.children:
            yield "<ul>"
            waiting += reversed(found.children)


def _item(found: Delegation, logs: Mapping[str, Log]) -> str:
    detail = "" if found.detail is None else f": {_safe(found.detail)}"
    lines = (
        f'<li><details id="{_safe(found.id)}"><summary><b>{_safe(found.label or found.id)}</b> ',
        f'<span class="dim">{_safe(found.provider or "agent")}</span> ',
        f'<span class="{_class(found)}">{_safe(found.state)}</span>{detail} ',
        f'<span class="dim">({totals(found, 0.0)})</span></summary>',
        "".join(_conversation(found, logs)),
        "</details>",
        f"<pre>{_safe(found.text)}</pre>" if found.text else "",
    )
    return "".join(lines)


def _conversation(found: Delegation, logs: Mapping[str, Log]) -> Iterator[str]:
    log = logs.get(found.id)
    for event in log.own_events if log is not None else ():
        for who, text in turns(event):
            yield f'<div class="who">{_safe(who)}</div><pre>{_safe(text)}</pre>'


def _timeline(roots: Sequence[Delegation], logs: Mapping[str, Log]) -> Iterator[str]:
    for root in roots:
        everyone = list(walk([root]))
        ends = [each.began + each.seconds(each.began) for each in everyone]
        begin = min(each.began for each in everyone)
        length = max(max(ends) - begin, 0.001)
        for each in everyone:
            left = 100 * (each.began - begin) / length
            width = 100 * each.seconds(each.began) / length
            ticks = "".join(
                f'<i class="tick" style="left:{100 * (at - begin) / length:.2f}%"></i>'
                for at in _answers(logs.get(each.id))
            )
            yield (
                f'<div class="row"><span class="name">{_safe(each.label or each.id)}</span>'
                f'<div class="lane {_class(each)}" title="{totals(each, each.began)}">'
                f'<i class="bar" style="left:{left:.2f}%;width:{width:.2f}%"></i>{ticks}'
                "</div></div>"
            )


def _answers(log: Log | None) -> Iterator[float]:
    for event in log.own_events if log is not None else ():
        if isinstance(event, AssistantMessage):
            yield event.time / 1_000


def _class(found: Delegation) -> str:
    return found.state if found.state in _CLASSES else "failed"


def _safe(text: str) -> str:
    return escape(printable(text))
