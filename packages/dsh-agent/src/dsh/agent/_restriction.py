"""Which of the host's tools an agent may use.

A filter is what somebody asks for; a restriction is what all filters of an agent come to, one
value that its children inherit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, final

from dsh.agent._errors import AgentError

__all__ = [
    "UNRESTRICTED",
    "EmptyToolFilterError",
    "ToolFilter",
    "ToolRestriction",
    "UnknownToolError",
    "names_in",
]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFilter:
    """Which of the host's tools an agent may use: allowed first, then denied (B-TOOL-13).

    Exact names. ``allow=None`` allows all, ``allow=()`` none at all; tools registered later are let
    through by ``deny`` alone and kept out by any ``allow`` that does not name them.
    """

    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRestriction:
    """What several filters come to; equal restrictions are one key.

    Only names of ``allow`` (all, where it is ``None``) and none of ``deny``.
    """

    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()

    @classmethod
    def of(cls, filter: ToolFilter) -> "ToolRestriction":
        """*filter* compiled: what its caller changes later does not reach it (B-TOOL-18)."""
        allow = frozenset(filter.allow) if filter.allow is not None else None
        return cls(allow=allow, deny=frozenset(filter.deny or ()))

    def __and__(self, other: "ToolRestriction") -> "ToolRestriction":
        if self.allow is None or other.allow is None:
            allow = other.allow if self.allow is None else self.allow
        else:
            allow = self.allow & other.allow
        return ToolRestriction(allow=allow, deny=self.deny | other.deny)

    def permits(self, name: str) -> bool:
        """Whether the host's tool of that name may be used."""
        return (self.allow is None or name in self.allow) and name not in self.deny


UNRESTRICTED: Final = ToolRestriction()
"""The restriction that permits every tool."""


class EmptyToolFilterError(AgentError):
    """A filter neither allows nor denies anything; nothing changed."""

    code = "EMPTY_TOOL_FILTER"

    def __init__(self) -> None:
        super().__init__(
            "a tool filter needs allow or deny; allow=() is the way to deny every tool"
        )


class UnknownToolError(AgentError):
    """Names that the host has no tools of; nothing changed."""

    code = "UNKNOWN_TOOL"

    def __init__(self, names: Iterable[str], *, known: Iterable[str]) -> None:
        self.names, self.known = tuple(names), tuple(sorted(known))
        unknown = ", ".join(_suggested(name, self.known) for name in self.names)
        super().__init__(
            f"the host has no tool named {unknown}; it has: {', '.join(self.known) or 'none'}"
        )


def names_in(filter: ToolFilter) -> tuple[str, ...]:
    """All names that *filter* allows or denies, each once.

    Raises:
      TypeError: it is no filter, or does not have tuples of names.
      EmptyToolFilterError: neither allow nor deny.
    """
    if not isinstance(filter, ToolFilter):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"tools are restricted by a ToolFilter, not by a {type(filter).__name__}")
    if filter.allow is None and filter.deny is None:
        raise EmptyToolFilterError
    named: dict[str, None] = {}
    for names in (filter.allow, filter.deny):
        if isinstance(names, str):
            raise TypeError(f"a tool filter takes a tuple of names, not the string {names!r}")
        for name in names or ():
            if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise TypeError(f"a tool filter takes names, not a {type(name).__name__}")
            named[name] = None
    return tuple(named)


def _suggested(name: str, known: tuple[str, ...]) -> str:
    folded = {each.casefold(): each for each in known}
    near = get_close_matches(name.strip().casefold(), folded, n=1)
    return f"{name!r} (did you mean {folded[near[0]]!r}?)" if near else repr(name)
