"""May the agent do that? What it asks, who decides, and what is answered.

Options are chosen by kind, never by id, and answered with the id as it came: agents name them as
they like (B155). Nothing is allowed that nobody allowed (B156, B157).
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

from dsh.subagent import Progress

__all__ = [
    "Approver",
    "Permission",
    "PermissionOption",
    "PermissionProgress",
    "PermissionRequest",
    "allowing",
    "rejecting",
]

OptionKind: TypeAlias = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionOption:
    """One answer the agent offers: its ``name`` for people, its ``kind``, and its ``option_id``."""

    option_id: str
    name: str
    kind: OptionKind

    @property
    def allows(self) -> bool:
        """Whether choosing it lets the agent go on."""
        return self.kind in _ALLOW


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """What an agent wants to do, and the answers it offers, ``options``.

    ``call_id`` is its own tool call, ``title`` what it says the call does.
    """

    call_id: str
    title: str
    kind: str
    """``read``, ``edit``, ``execute`` and so on; ``other`` where the agent does not say."""
    arguments: object
    """The tool's raw input as JSON, ``None`` where the agent does not tell."""
    options: tuple[PermissionOption, ...]


Approver: TypeAlias = Callable[[PermissionRequest], Awaitable[PermissionOption | None]]
"""Chooses one of the options; ``None``, another object or an exception is a rejection. Cancelled
when the run is: then nothing it says counts any more."""

Permission: TypeAlias = Literal["reject", "allow"] | Approver


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionProgress(Progress):
    """The agent asked for a permission, and was answered: ``allowed`` or not.

    ``call_id`` and ``title`` are those of the tool call it asked about.
    """

    call_id: str
    title: str
    allowed: bool
    option_id: str | None
    """The option chosen; ``None`` says that the question was answered as cancelled."""


_ALLOW: Final = ("allow_once", "allow_always")
_REJECT: Final = ("reject_once", "reject_always")


def allowing(options: Iterable[PermissionOption]) -> PermissionOption | None:
    """Return the option that allows the least, if any allows (B-ACP-09)."""
    return _first(options, _ALLOW)


def rejecting(options: Iterable[PermissionOption]) -> PermissionOption | None:
    """Return the option that rejects the least, if any rejects; the agent's turn then goes on."""
    return _first(options, _REJECT)


def _first(options: Iterable[PermissionOption], kinds: tuple[str, ...]) -> PermissionOption | None:
    fitting = [option for option in options if option.kind in kinds]
    return min(fitting, key=lambda option: kinds.index(option.kind), default=None)
