"""Named things in two layers: a host's, and what each agent has of its own on top.

An agent's thing shadows its host's of the same name, unless the host's is owner-final. Tools,
prompt sections and prompt variables are all kept like this.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar, final

from dsh.agent._errors import AgentError
from dsh.agent._hooks import Hooks
from dsh.agent._registration import InactiveScopeError, Registration

__all__ = ["DuplicateNameError", "Layer", "OwnerFinalError"]


class Named(Protocol):
    """What a layer can hold."""

    @property
    def name(self) -> str: ...
    @property
    def owner_final(self) -> bool: ...


class Change(Protocol):
    """The class of an event that tells of a change."""

    def __call__(self, *, name: str, registered: bool) -> object: ...


T = TypeVar("T", bound=Named)


class DuplicateNameError(AgentError):
    """Base of the refusals of a ``name`` that its layer has already, for a ``kind`` of thing."""

    kind: str

    def __init__(self, name: str, *, in_host: bool) -> None:
        advice = (
            "; to replace it for one agent, register with that agent instead" if in_host else ""
        )
        layer = "host" if in_host else "agent"
        super().__init__(f"the {layer} already has a {self.kind} named {name!r}{advice}")
        self.name = name


class OwnerFinalError(AgentError):
    """An agent would shadow what its host declared owner-final (B-TOOL-06); nothing changed."""

    code = "OWNER_FINAL"

    def __init__(self, kind: str, name: str, *, shadowed: bool) -> None:
        problem = "an agent already has one of its own" if shadowed else "the host's is owner-final"
        super().__init__(f"the {kind} {name!r} cannot be registered: {problem}; use another name")
        self.kind, self.name = kind, name


_NOTHING: Mapping[str, object] = MappingProxyType({})


@final
class Layer(Generic[T]):
    """The things of one layer; *host* is the layer below an agent's own.

    Every change is announced on *hooks* as a *changed*: a listener that raises undoes a
    registration and its error propagates; one that raises when something goes is logged.
    """

    __slots__ = (
        "_changed",
        "_closed",
        "_duplicate",
        "_hooks",
        "_host",
        "_items",
        "_shadows",
        "version",
    )

    def __init__(
        self,
        duplicate: type[DuplicateNameError],
        *,
        host: "Layer[T] | None",
        hooks: Hooks,
        changed: Change,
    ) -> None:
        self.version = 0
        """Grows with every change of this layer."""
        self._duplicate = duplicate
        self._host = host
        self._hooks = hooks
        self._changed = changed
        self._closed = False
        self._items: dict[str, T] | None = None
        self._shadows: dict[str, int] | None = None
        """How many agents have something of that name; of a host only."""

    @property
    def own(self) -> Mapping[str, T]:
        """What this layer holds itself; not to be changed, and not to be kept."""
        return self._items if self._items is not None else _NOTHING  # type: ignore[return-value]

    def merged(self) -> Mapping[str, T]:
        """What holds for this layer: the host's things, its own in front; as ``own``."""
        if self._host is None:
            return self.own
        return {**self._host.own, **self.own} if self.own else self._host.own

    def register(self, item: T) -> Registration:
        """Add *item*.

        Raises:
          InactiveScopeError: the layer was closed.
          DuplicateNameError: the layer has one of that name; its subclass of the kind at hand.
          OwnerFinalError: *item* would shadow, or be shadowed against its owner's word.
        """
        kind, name = self._duplicate.kind, item.name
        if self._closed:
            raise InactiveScopeError(f"the {kind} {name!r}")
        if name in self.own:
            raise self._duplicate(name, in_host=self._host is None)
        below = self._host.own.get(name) if self._host is not None else None
        if below is not None and below.owner_final:
            raise OwnerFinalError(kind, name, shadowed=False)
        if item.owner_final and self._shadows is not None and name in self._shadows:
            raise OwnerFinalError(kind, name, shadowed=True)
        self._put(item)
        try:
            if self._hooks.hears(self._changed):
                self._hooks.announce(self._changed(name=name, registered=True))
        except BaseException:  # undone, and passed on
            self._withdraw(item)  # whoever had heard of it hears that it is gone
            raise
        return Registration(partial(self._withdraw, item))

    def close(self) -> None:
        """End this layer: everything in it is withdrawn; closing again does nothing."""
        self._closed = True
        for item in tuple(self.own.values()):
            self._withdraw(item)

    def _put(self, item: T) -> None:
        if self._items is None:
            self._items = {}
        self._items[item.name] = item
        self.version += 1
        if self._host is not None:
            self._host._count(item.name, +1)

    def _withdraw(self, item: T) -> None:
        if self._items is None or self._items.get(item.name) is not item:
            return
        del self._items[item.name]
        self._items = self._items or None
        self.version += 1
        if self._host is not None:
            self._host._count(item.name, -1)
        if self._hooks.hears(self._changed):
            self._hooks.dispatch(self._changed(name=item.name, registered=False))

    def _count(self, name: str, step: int) -> None:
        shadows = self._shadows or {}
        shadows[name] = shadows.get(name, 0) + step
        if not shadows[name]:
            del shadows[name]
        self._shadows = shadows or None
