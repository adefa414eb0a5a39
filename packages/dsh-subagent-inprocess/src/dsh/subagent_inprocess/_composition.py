"""What sets a child apart from any other agent of its host, put on it before anybody sees it."""

from functools import partial

from dsh.agent import (
    PERSONA,
    UNRESTRICTED,
    Agent,
    Section,
    Setup,
    ToolFilter,
    ToolRestriction,
)
from dsh.subagent import ResolvedRequest
from dsh.subagent_inprocess._capture import Capture
from dsh.subagent_inprocess._inheritance import Inheritance
from dsh.subagent_inprocess._structured import attach

__all__ = ["composition"]


def composition(
    request: ResolvedRequest,
    parent: Agent | None,
    capture: Capture | None,
    inheritance: Inheritance,
) -> Setup | None:
    """Return what composes the child, or ``None`` where there is nothing to do.

    In this order (B-DRV-09): persona, what the parent itself may not use, the request's filter,
    the structured answer. Of the parent's own tools, sections and listeners nothing is passed on.
    """
    restriction = parent.tools.restriction() if parent is not None else UNRESTRICTED
    if (
        request.persona is None
        and restriction == UNRESTRICTED
        and request.tool_filter is None
        and capture is None
        and inheritance.observe is None
    ):
        return None
    return partial(_compose, request, restriction, capture, inheritance)


def _compose(
    request: ResolvedRequest,
    restriction: ToolRestriction,
    capture: Capture | None,
    inheritance: Inheritance,
    child: Agent,
) -> None:
    if request.persona is not None:
        child.prompt.register(Section(name=PERSONA, text=request.persona, order=0))
    filters: tuple[ToolRestriction | ToolFilter | None, ...] = (restriction, request.tool_filter)
    for each in filters:
        if each is not None and each != UNRESTRICTED:
            child.tools.restrict(each)
    if capture is not None:
        attach(child, capture)
    if inheritance.observe is not None:
        inheritance.observe(child)
