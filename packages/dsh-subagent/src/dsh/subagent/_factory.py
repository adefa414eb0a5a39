"""Backends that come as plugins: what an entry point names, and what is installed.

A distribution offers a backend by an entry point of the group ``dsh.subagent_providers``. Nothing
is enabled by being installed: a host lists what there is, loads what it wants, validates its part
of the configuration with ``config_model`` and registers what ``create`` returns.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from dsh.agent import AgentRegistry, Plugin, discover
from dsh.subagent._provider import SubagentProvider

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["ProviderFactory", "ProviderHost", "discover_providers"]

_GROUP: Final = "dsh.subagent_providers"


class ProviderHost(Protocol):
    """What a host offers to the backends it creates."""

    @property
    def agents(self) -> AgentRegistry:
        """Where a backend creates its children, if they are agents of this host."""
        ...


class ProviderFactory(Protocol):
    """What an entry point names: an object like this, or a class that makes one."""

    @property
    def config_model(self) -> "type[BaseModel]":
        """The shape of this backend's part of a host's configuration."""
        ...

    def create(self, host: ProviderHost, config: Any, /) -> SubagentProvider:
        """Make the backend; *config* is an instance of ``config_model``. Registers nothing."""
        ...


def discover_providers() -> Mapping[str, Plugin[ProviderFactory]]:
    """The backends that are installed, by name; imports none of them.

    One that cannot be loaded says so when it is, by `dsh.agent.PluginError`; the others load.
    """
    return discover(_GROUP, _checked)


def _checked(found: object) -> ProviderFactory:
    if isinstance(found, type):
        found = found()
    for member in ("config_model", "create"):
        if not callable(getattr(found, member, None)):
            raise TypeError(
                f"{type(found).__name__} is no ProviderFactory: it has no callable {member!r}"
            )
    return cast("ProviderFactory", found)
