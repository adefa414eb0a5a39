"""What a fork takes over from its parent. Pure.

The parent's completed turns, never the one still open: that holds the very call that asks for the
fork, without its result.
"""

from functools import partial
from pkgutil import get_data  # `importlib.resources` would import `zipfile`
from typing import Final

from dsh.agent import ASSEMBLY, MODEL_CALL, Agent, RequestHeader, TextBlock
from dsh.subagent import ResolvedRequest
from dsh.subagent_fork._prefix import report_prefix
from dsh.subagent_inprocess import FRESH, Inheritance

__all__ = ["inherited"]


def _task() -> TextBlock:
    data = get_data("dsh.subagent_fork", "task.md")
    assert data is not None, "a package's loader can read what lies beside its modules"
    return TextBlock(text=data.decode())


_TASK: Final = _task()
"""Says that the history is background; without it models carry on with their parent's work."""


def inherited(parent: Agent, request: ResolvedRequest) -> Inheritance:
    """Return what a fork of *parent* begins with, as of now.

    A parent that has completed no turn yet gives a fresh child (B-FRK-04). Where the request
    changes nothing of what a model is shown, and nothing that the parent was shown is its own, the
    child sends the parent's last header byte for byte, so that a provider's cache knows all of it.
    Otherwise the header is rendered anew, and the log says how much of it is still the same.
    """
    seed = parent.session.completed_prefix()
    if seed is None:
        return FRESH
    sent = parent.session.request_header
    if sent is None:
        return Inheritance(seed=seed, preface=(_TASK,))
    if _is_shown_alike(parent, request, sent):
        return Inheritance(seed=seed, preface=(_TASK,), header=_header(sent, request))
    return Inheritance(seed=seed, preface=(_TASK,), observe=partial(report_prefix, seed, sent))


def _is_shown_alike(parent: Agent, request: ResolvedRequest, sent: RequestHeader) -> bool:
    asked = (request.persona, request.tool_filter, request.output_schema)
    if any(each is not None for each in asked):
        return False
    if parent.tools.own() or parent.prompt.own():
        return False
    if any(parent.hooks.hears_itself(point) for point in (ASSEMBLY, MODEL_CALL)):
        return False
    visible = parent.tools.visible()
    return all(tool.name in visible for tool in sent.tools or ())


def _header(sent: RequestHeader, request: ResolvedRequest) -> RequestHeader:
    """Return *sent* with the request's own model and options, if it has any (B087)."""
    own = request.agent_options
    same_model = own.model is None or own.model == sent.model
    return RequestHeader(
        model=own.model or sent.model,
        system=sent.system,
        tools=sent.tools,
        options={**sent.options, **own.options} if same_model else own.options,
    )
