"""Where tools are registered and run: a host's layer, and a layer of each agent's own.

Next: ``_pipeline.py``, what happens to a call.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, final
from weakref import WeakValueDictionary

from dsh.agent._errors import AgentError
from dsh.agent._hooks import Hooks
from dsh.agent._layer import DuplicateNameError, Layer
from dsh.agent._messages import ToolCallBlock
from dsh.agent._model import ToolSchema
from dsh.agent._pipeline import run_call
from dsh.agent._prompt import Section
from dsh.agent._registration import InactiveScopeError, Registration
from dsh.agent._restriction import (
    UNRESTRICTED,
    ToolFilter,
    ToolRestriction,
    UnknownToolError,
    names_in,
)
from dsh.agent._tool import Tool, ToolResult

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = [
    "UNLISTED_TOOLS",
    "DuplicateToolError",
    "ToolOrderError",
    "ToolRegistry",
    "ToolsChanged",
    "guidance_name",
]

logger = logging.getLogger("dsh.agent")

UNLISTED_TOOLS: Final = "<unlisted-tools>"
"""Where an order of tools puts those that it does not name."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChanged:
    """The tool ``name`` was ``registered`` (a listener that raises undoes that) or is gone."""

    name: str
    registered: bool


class DuplicateToolError(DuplicateNameError):
    """The layer already has a tool of that name; nothing changed."""

    code = "DUPLICATE_TOOL"
    kind = "tool"


class ToolOrderError(AgentError):
    """An order of tools that is none: the rest has no place, or a name has two."""

    code = "INVALID_TOOL_ORDER"


@final
class _View:
    """The tools that agents with one restriction see; shared, as there may be 10,000 of them."""

    __slots__ = ("__weakref__", "guidance", "schemas", "tools")

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        sections = (_guidance(tool) for tool in tools.values())
        self.guidance = {each.name: each for each in sections if each is not None}
        self.schemas: tuple[ToolSchema, ...] | None = None
        """In the host's order; made when first asked for."""


def _guidance(tool: Tool) -> Section | None:
    if not tool.guidance:
        return None
    return Section(
        name=guidance_name(tool.name),
        text=tool.guidance,
        order=tool.guidance_order,
        owner_final=tool.owner_final,
    )


def guidance_name(tool_name: str) -> str:
    """The section in which the guidance of a tool stands (B-SYS-05)."""
    return f"tool:{tool_name}"


@final
class ToolRegistry:
    """The tools of one layer; *host* is the layer below an agent's own.

    *hooks* is the layer's own: changes are announced there. A registry on its own needs neither.
    """

    __slots__ = ("_closed", "_filters", "_hooks", "_host", "_layer", "_order", "_seen", "_views")

    def __init__(self, host: "ToolRegistry | None" = None, *, hooks: Hooks | None = None) -> None:
        self._host = host
        self._hooks: Hooks = hooks or Hooks(host._hooks if host is not None else None)
        self._layer: Layer[Tool] = Layer(
            DuplicateToolError,
            host=host._layer if host is not None else None,
            hooks=self._hooks,
            changed=ToolsChanged,
        )
        self._closed = False
        self._filters: tuple[ToolRestriction, ...] = ()
        self._order: tuple[str, ...] | None = None
        self._seen: tuple[int, _View] | None = None
        self._views: WeakValueDictionary[ToolRestriction, _View] | None = None

    def register(self, tool: Tool) -> Registration:
        """Offer *tool*, a ``Tool``; an agent's own one shadows the host's of the same name.

        Raises:
          DuplicateToolError: this layer has one of that name.
          OwnerFinalError: the host's tool of that name may not be shadowed, or *tool* may not be
            and an agent does already.
          InactiveScopeError: the agent or host has ended.
        """
        if not isinstance(tool, Tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a tool must be a Tool, not a {type(tool).__name__}; @tool makes one")
        return self._layer.register(tool)

    def restrict(self, filter: ToolFilter | ToolRestriction) -> Registration:
        """Narrow what this agent sees of its host's tools, in the prompt and at dispatch.

        Restrictions intersect, and each is lifted by closing what this returns. An agent's own
        tools are never hidden (B-TOOL-15). A filter is checked against the host's tools of this
        moment; a restriction read off another agent is taken as it is.

        Raises:
          TypeError: this is a host's registry (B-TOOL-10), or the filter is none of names.
          EmptyToolFilterError: neither allow nor deny.
          UnknownToolError: names of no host tool; it lists them all, with near ones.
          InactiveScopeError: the agent has ended.
        """
        if self._host is None:
            raise TypeError(
                "a host's tools cannot be restricted; restrict an agent's (agent.tools)"
            )
        if self._closed:
            raise InactiveScopeError("a tool restriction")
        restriction = filter if isinstance(filter, ToolRestriction) else self._compiled(filter)
        self._filters = (*self._filters, restriction)
        self._seen = None
        return Registration(partial(self._lift, restriction))

    def _compiled(self, filter: ToolFilter) -> ToolRestriction:
        named = names_in(filter)
        known: Mapping[str, Tool] = self._host._layer.own if self._host is not None else {}
        if unknown := [name for name in named if name not in known]:
            raise UnknownToolError(unknown, known=known)
        before = self.restriction()
        if hidden := [name for name in filter.allow or () if not before.permits(name)]:
            logger.warning("allowed, but still hidden by another restriction: %s", hidden)
        return ToolRestriction.of(filter)

    def _lift(self, restriction: ToolRestriction) -> None:
        left = list(self._filters)
        left.remove(restriction)  # one of several equal ones: they are interchangeable
        self._filters, self._seen = tuple(left), None

    def restriction(self) -> ToolRestriction:
        """What all restrictions of this agent come to: what its children inherit."""
        effective = UNRESTRICTED
        for each in self._filters:
            effective = effective & each
        return effective

    def arrange(self, order: tuple[str, ...]) -> Registration:
        """Offer the host's tools in this order, ``UNLISTED_TOOLS`` once for all others.

        Without it they come by name. A listed name that is no tool fails the assembly.

        Raises:
          TypeError: this is an agent's registry: the order is the host's.
          ToolOrderError: the marker is missing or repeated, or a name is; or there is an order.
          InactiveScopeError: the host has ended.
        """
        if self._host is not None:
            raise TypeError("the order of tools is the host's to decide (host.tools.arrange)")
        if self._closed:
            raise InactiveScopeError("an order of tools")
        if self._order is not None:
            raise ToolOrderError("there is an order of tools already; close it first")
        if order.count(UNLISTED_TOOLS) != 1:
            raise ToolOrderError(f"an order of tools names {UNLISTED_TOOLS!r} exactly once")
        if len(set(order)) != len(order):
            raise ToolOrderError("an order of tools names each tool at most once")
        self._reorder(tuple(order))
        return Registration(partial(self._reorder, None))

    def _reorder(self, order: tuple[str, ...] | None) -> None:
        self._order = order
        self._layer.version += 1

    def own(self) -> Mapping[str, Tool]:
        """The tools of this layer itself; not to be changed, and not to be kept."""
        return self._layer.own

    def visible(self) -> Mapping[str, Tool]:
        """The tools this layer may call, by name; not to be changed."""
        return self._view().tools

    def schemas(self) -> tuple[ToolSchema, ...] | None:
        """The visible tools as a model sees them, in order; ``None`` where there are none.

        Agents with equal restrictions and no tools of their own get the same tuple.

        Raises:
          UnknownToolError: the host's order names a tool that is nowhere.
        """
        view = self._view()
        if view.schemas is None and view.tools:
            view.schemas = tuple(view.tools[name].schema for name in self._in_order(view.tools))
        return view.schemas

    def guidance(self) -> Mapping[str, Section]:
        """The guidance that travels with the visible tools, by section name; not to be changed."""
        return self._view().guidance

    def final_names(self) -> frozenset[str]:
        """Names of all owner-final tools of this agent and its host, hidden ones included."""
        return frozenset(name for name, tool in self._layer.merged().items() if tool.owner_final)

    def _in_order(self, tools: Mapping[str, Tool]) -> tuple[str, ...]:
        order = (self._host or self)._order
        if order is None:
            return tuple(sorted(tools))
        known = self._layer.merged()
        if unknown := [name for name in order if name != UNLISTED_TOOLS and name not in known]:
            raise UnknownToolError(unknown, known=known)
        rest = sorted(set(tools).difference(order))
        placed = [rest if name == UNLISTED_TOOLS else [name] for name in order]
        return tuple(name for names in placed for name in names if name in tools)

    def _view(self) -> _View:
        host, own = self._host, self._layer.own
        # Both versions only grow, and so does their sum.
        version = self._layer.version + (host._layer.version if host is not None else 0)
        if self._seen is not None and self._seen[0] == version:
            return self._seen[1]
        if host is None:
            view, self._views = _View({**own}), None
        else:
            view = host._shared_view(self.restriction())
            if own:
                view = _View({**view.tools, **own})
        self._seen = (version, view)
        return view

    def _shared_view(self, restriction: ToolRestriction) -> _View:
        whole = self._view()  # forgets the views of before a change
        if restriction == UNRESTRICTED:
            return whole
        if self._views is None:
            self._views = WeakValueDictionary()
        view = self._views.get(restriction)
        if view is None:
            view = _View({n: tool for n, tool in whole.tools.items() if restriction.permits(n)})
            self._views[restriction] = view
        return view

    async def execute(
        self, call: ToolCallBlock, *, agent: "Agent | None" = None, hooks: Hooks | None = None
    ) -> ToolResult:
        """Run one call to its final result; what goes wrong in a tool is a result too.

        Without an *agent* only the host's listeners take part (B-TOOL-35); *hooks* are what holds
        for it, if not its own. Cancelling cancels the tool's body, and returns when that has ended.
        """
        hooks = hooks or (agent.hooks if agent is not None else (self._host or self)._hooks)
        return await run_call(call, self.visible(), hooks=hooks, agent=agent)

    def close(self) -> None:
        """End this layer: its tools, restrictions and order are gone for good."""
        self._closed = True
        self._filters, self._order, self._seen = (), None, None
        self._layer.close()
