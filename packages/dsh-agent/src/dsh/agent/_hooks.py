"""How a host and its plugins take part: four kinds of hooks, in two layers.

*Notify* observes an event (its class is the hook point), *filter* wraps a value like an onion,
*guard* denies or abstains, *stop* ends a turn. An agent's hooks see that agent only; its host's
hooks see every agent. Layers are flat: a child agent's layer lies in its host's, never in its
parent's (B-SCOPE-05).

Whoever dispatches holds the listeners of that moment: registering or closing meanwhile counts from
the next dispatch on. What an observer raises is logged. What any other listener raises goes to
whoever asked: it fails a turn, and around a tool call it is the call's error result.

Next: ``_pipeline.py``, where every kind but *stop* is at work.
"""

import inspect
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from types import UnionType
from typing import Generic, Protocol, TypeVar, cast, final

from dsh.agent._errors import AgentError
from dsh.agent._registration import InactiveScopeError, Registration

__all__ = ["Filter", "Guard", "HookValueError", "Hooks", "Next", "Stop"]

logger = logging.getLogger("dsh.agent")

E = TypeVar("E")
V = TypeVar("V")
C = TypeVar("C")
S = TypeVar("S")


class HookValueError(AgentError):
    """A listener gave a value of a kind that the hook point ``point`` does not take."""

    code = "HOOK_VALUE"

    def __init__(self, point: str, *, got: object, expected: str) -> None:
        super().__init__(
            f"a listener of {point!r} gave a {type(got).__name__}; it must give {expected}"
        )
        self.point = point


class Next(Protocol[V]):
    """The rest of the onion: await it with a value, get the value that came back."""

    def __call__(self, value: V, /) -> Awaitable[V]: ...


@final
class Filter(Generic[V, C]):
    """A point, ``name``, whose listeners wrap a value: ``async (value, context, next) -> value``.

    ``accepts`` is the class of what a listener passes on or gives back; without it anything goes.
    """

    __slots__ = ("accepts", "name")

    def __init__(self, name: str, accepts: type[object] | UnionType | None = None) -> None:
        self.name = name
        self.accepts = accepts

    def __repr__(self) -> str:
        return f"<Filter {self.name}>"


@final
class Guard(Generic[S]):
    """A point, ``name``, to deny at: ``(subject) -> reason | None``; nothing undoes a denial."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<Guard {self.name}>"


@final
class Stop(Generic[S]):
    """A point, ``name``, to end a turn at: ``(subject) -> bool``; nothing revives it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<Stop {self.name}>"


class _Entry:
    """One registration; a fresh object, so that one function registered twice is two entries."""

    __slots__ = ("listener",)

    def __init__(self, listener: object) -> None:
        self.listener = listener


@final
class Hooks:
    """The listeners of one layer; *outer* is the layer around it (an agent's host).

    The outer layer's listeners come first, so its filters are the outermost.
    """

    __slots__ = ("_closed", "_listeners", "_outer")

    def __init__(self, outer: "Hooks | None" = None) -> None:
        self._outer = outer
        self._closed = False
        # Invariant: no value is empty; a tuple is replaced, never changed, so it is a snapshot.
        self._listeners: dict[object, tuple[_Entry, ...]] | None = None

    def _add(self, point: object, listener: object, *, prepend: bool = False) -> Registration:
        if self._closed:
            raise InactiveScopeError(f"a listener of {_name(point)}")
        if not callable(listener):
            raise TypeError(f"a listener must be callable, not a {type(listener).__name__}")
        if self._listeners is None:
            self._listeners = {}
        entry = _Entry(listener)
        known = self._listeners.get(point, ())
        self._listeners[point] = (entry, *known) if prepend else (*known, entry)
        return Registration(partial(self._remove, point, entry))

    def _add_plain(self, point: object, listener: object, *, prepend: bool = False) -> Registration:
        if inspect.iscoroutinefunction(listener):
            raise TypeError(f"a listener of {_name(point)} must be a plain function, not async")
        return self._add(point, listener, prepend=prepend)

    def _remove(self, point: object, entry: _Entry) -> None:
        if self._listeners is None:
            return
        left = tuple(e for e in self._listeners.get(point, ()) if e is not entry)
        if left:
            self._listeners[point] = left
        else:
            self._listeners.pop(point, None)
            self._listeners = self._listeners or None

    def _at(self, point: object) -> tuple[_Entry, ...]:
        found: tuple[_Entry, ...] = ()
        layer: Hooks | None = self
        while layer is not None:  # not recursive: this is asked some fifty times a turn
            if layer._listeners is not None and point in layer._listeners:
                here = layer._listeners[point]
                found = (*here, *found) if found else here
            layer = layer._outer
        return found

    @property
    def listeners(self) -> tuple[str, ...]:
        """The points of this layer that somebody listens to, once per listener."""
        layer = self._listeners or {}
        return tuple(_name(point) for point, entries in layer.items() for _ in entries)

    def close(self) -> None:
        """End this layer: every listener of it is gone for good; closing again does nothing."""
        self._closed = True
        self._listeners = None

    def on(
        self, event: type[E], listener: Callable[[E], object], *, prepend: bool = False
    ) -> Registration:
        """Observe events of exactly this class.

        A listener that raises is logged and disturbs nobody. It is a plain function (``TypeError``
        if async): whoever must await puts the event into a memory channel.

        Raises:
          InactiveScopeError: this layer was closed.
        """
        return self._add_plain(event, listener, prepend=prepend)

    def filter(
        self,
        point: Filter[V, C],
        listener: Callable[[V, C, Next[V]], Awaitable[V]],
        *,
        prepend: bool = False,
    ) -> Registration:
        """Wrap the value of *point*; the first registered is the outermost of this layer.

        *prepend* makes a listener the outermost instead.

        Raises:
          InactiveScopeError: this layer was closed.
        """
        return self._add(point, listener, prepend=prepend)

    def guard(self, point: Guard[S], listener: Callable[[S], str | None]) -> Registration:
        """Be asked at *point* whether there is a reason against it.

        Raises:
          InactiveScopeError: this layer was closed.
        """
        return self._add_plain(point, listener)

    def stop(self, point: Stop[S], listener: Callable[[S], bool]) -> Registration:
        """Be asked at *point* whether the turn is over.

        Raises:
          InactiveScopeError: this layer was closed.
        """
        return self._add_plain(point, listener)

    def hears(self, point: object) -> bool:
        """Whether anybody listens at *point*: spares whoever dispatches to make the value."""
        layer: Hooks | None = self
        while layer is not None:
            if layer._listeners is not None and point in layer._listeners:
                return True
            layer = layer._outer
        return False

    def hears_itself(self, point: object) -> bool:
        """Whether anybody listens at *point* in this layer, whatever the outer one does."""
        return self._listeners is not None and point in self._listeners

    def dispatch(self, event: object) -> None:
        """Tell everyone who observes the class of *event*; what they raise is logged."""
        for entry in self._at(type(event)):
            try:
                cast("Callable[[object], object]", entry.listener)(event)
            except Exception:  # listeners are foreign code, each contained
                logger.exception("a listener of %s raised", type(event).__name__)

    def announce(self, event: object) -> None:
        """Tell everyone who observes the class of *event*; the first failure propagates.

        For registrations that are undone when a listener objects (B-TOOL-07, B-SYS-12).
        """
        for entry in self._at(type(event)):
            cast("Callable[[object], object]", entry.listener)(event)

    async def run_filter(self, point: Filter[V, C], value: V, context: C) -> V:
        """Send *value* through the onion of *point*.

        Raises:
          HookValueError: a listener passed on or gave back what *point* does not accept.
        """
        entries = self._at(point)
        if not entries:
            return value

        async def through(index: int, current: V) -> V:
            if index:
                _check(point, current)
            if index == len(entries):
                return current
            listener = cast("Callable[[V, C, Next[V]], Awaitable[V]]", entries[index].listener)
            changed = await listener(current, context, partial(through, index + 1))
            _check(point, changed)
            return changed

        return await through(0, value)

    def denial(self, point: Guard[S], subject: S) -> str | None:
        """The first reason against *subject*, or ``None``.

        Raises:
          HookValueError: a listener gave neither a reason nor ``None``.
        """
        for entry in self._at(point):
            reason = cast("Callable[[S], object]", entry.listener)(subject)
            if isinstance(reason, str):
                return reason
            if reason is not None:
                raise HookValueError(point.name, got=reason, expected="a reason or None")
        return None

    def stopped(self, point: Stop[S], subject: S) -> bool:
        """Whether anyone says that it is over.

        Raises:
          HookValueError: a listener gave no bool.
        """
        for entry in self._at(point):
            over = cast("Callable[[S], object]", entry.listener)(subject)
            if not isinstance(over, bool):
                raise HookValueError(point.name, got=over, expected="a bool")
            if over:
                return True
        return False


def _check(point: Filter[V, C], value: V) -> None:
    if point.accepts is not None and not isinstance(value, point.accepts):
        expected = getattr(point.accepts, "__name__", str(point.accepts))
        raise HookValueError(point.name, got=value, expected=f"a {expected}")


def _name(point: object) -> str:
    return point.__name__ if isinstance(point, type) else repr(point)
