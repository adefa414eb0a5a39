"""How a host and its plugins take part: four kinds of hooks, in two layers.

*Notify* observes an event (its class is the hook point), *filter* wraps a value like an onion,
*guard* denies or abstains, *stop* ends a turn. An agent's hooks see that agent only; its host's
hooks see every agent.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar, cast, final

__all__ = ["Filter", "Guard", "Hooks", "Next", "Registration", "Stop"]

logger = logging.getLogger("dsh.agent")

E = TypeVar("E")
V = TypeVar("V")
C = TypeVar("C")
S = TypeVar("S")


class Next(Protocol[V]):
    """The rest of the onion: await it with a value, get the value that came back."""

    def __call__(self, value: V, /) -> Awaitable[V]: ...


@final
class Filter(Generic[V, C]):
    """A point where listeners wrap a value: ``async (value, context, next) -> value``."""

    def __init__(self, name: str) -> None:
        self.name = name


@final
class Guard(Generic[S]):
    """A point where listeners may deny: ``(subject) -> reason | None``; nothing undoes a denial."""

    def __init__(self, name: str) -> None:
        self.name = name


@final
class Stop(Generic[S]):
    """A point where listeners may end a turn: ``(subject) -> bool``; nothing revives it."""

    def __init__(self, name: str) -> None:
        self.name = name


@final
class Registration:
    """The undo of a registration: ``close()`` it, or hold it in a ``with``."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def close(self) -> None:
        """Take the registration back; closing again does nothing."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> "Registration":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@final
class Hooks:
    """The listeners of one layer; *outer* is the layer around it (an agent's host)."""

    __slots__ = ("_listeners", "_outer")

    def __init__(self, outer: "Hooks | None" = None) -> None:
        self._outer = outer
        self._listeners: dict[object, list[object]] | None = None

    def _add(self, point: object, listener: object, *, prepend: bool) -> Registration:
        if self._listeners is None:
            self._listeners = {}
        entry = [listener]  # a fresh object, so that one function registered twice is two entries
        listeners = self._listeners.setdefault(point, [])
        listeners.insert(0 if prepend else len(listeners), entry)
        return Registration(lambda: listeners.remove(entry))

    def _at(self, point: object) -> list[object]:
        found = self._outer._at(point) if self._outer is not None else []
        own = self._listeners.get(point) if self._listeners is not None else None
        return [*found, *(cast(list[object], entry)[0] for entry in own)] if own else found

    def on(
        self, event: type[E], listener: Callable[[E], object], *, prepend: bool = False
    ) -> Registration:
        """Observe events of this class; a listener that raises is logged and disturbs nobody."""
        return self._add(event, listener, prepend=prepend)

    def filter(
        self,
        point: Filter[V, C],
        listener: Callable[[V, C, Next[V]], Awaitable[V]],
        *,
        prepend: bool = False,
    ) -> Registration:
        """Wrap the value of *point*; the first registered is the outermost."""
        return self._add(point, listener, prepend=prepend)

    def guard(self, point: Guard[S], listener: Callable[[S], str | None]) -> Registration:
        """Be asked at *point* whether there is a reason against it."""
        return self._add(point, listener, prepend=False)

    def stop(self, point: Stop[S], listener: Callable[[S], bool]) -> Registration:
        """Be asked at *point* whether the turn is over."""
        return self._add(point, listener, prepend=False)

    def dispatch(self, event: object) -> None:
        """Tell everyone who observes the class of *event*."""
        for listener in self._at(type(event)):
            try:
                cast(Callable[[object], object], listener)(event)
            except Exception:
                logger.exception("a listener of %s raised", type(event).__name__)

    def announce(self, event: object) -> None:
        """Tell everyone who observes the class of *event*; the first failure propagates.

        For registrations that are undone when a listener objects (B-TOOL-07, B-SYS-12).
        """
        for listener in self._at(type(event)):
            cast(Callable[[object], object], listener)(event)

    async def run_filter(self, point: Filter[V, C], value: V, context: C) -> V:
        """Send *value* through the onion of *point*."""
        listeners = self._at(point)
        if not listeners:
            return value

        async def layer(index: int, current: V) -> V:
            if index == len(listeners):
                return current
            listener = cast(Callable[[V, C, Next[V]], Awaitable[V]], listeners[index])
            return await listener(current, context, lambda inner: layer(index + 1, inner))

        return await layer(0, value)

    def denial(self, point: Guard[S], subject: S) -> str | None:
        """The first reason against *subject*, or ``None``."""
        for listener in self._at(point):
            if (reason := cast(Callable[[S], str | None], listener)(subject)) is not None:
                return reason
        return None

    def stopped(self, point: Stop[S], subject: S) -> bool:
        """Whether anyone says that it is over."""
        return any(cast(Callable[[S], bool], listener)(subject) for listener in self._at(point))
