"""Backends that come as plugins: what an entry point names, and what is installed.

A distribution offers a backend by an entry point of the group ``dsh.subagent_providers``. Nothing
is enabled by being installed: a host lists what there is, loads what it wants, validates its part
of the configuration with ``config_model`` and registers what ``create`` returns.
"""

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Final, Protocol, cast, final

from dsh.agent import AgentRegistry
from dsh.subagent._errors import SubagentError, described
from dsh.subagent._provider import SubagentProvider

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "InstalledProvider",
    "ProviderFactory",
    "ProviderHost",
    "ProviderPluginError",
    "discover_providers",
]

GROUP: Final = "dsh.subagent_providers"


class ProviderPluginError(SubagentError):
    """An installed backend cannot be loaded; the others can. ``__cause__`` is what went wrong."""

    code = "BROKEN_PLUGIN"

    def __init__(self, plugin: "InstalledProvider", problem: str) -> None:
        super().__init__(
            f"the subagent provider {plugin.name!r} of {plugin.distribution or 'no distribution'} "
            f"({plugin.reference}) cannot be loaded: {problem}"
        )
        self.plugin = plugin


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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledProvider:
    """A backend that is installed; finding it has imported nothing of it."""

    name: str
    distribution: str | None
    """Name and version of the distribution that brings it."""
    reference: str
    """Where its factory is: ``module:name``."""

    def load(self) -> ProviderFactory:
        """Import it and return its factory.

        Raises:
          ProviderPluginError: The import failed, or what it gave is no factory.
        """
        try:
            found = EntryPoint(name=self.name, value=self.reference, group=GROUP).load()
            factory = found() if isinstance(found, type) else found
        except (Exception, SystemExit) as exc:
            raise ProviderPluginError(self, described(exc)) from exc
        for member in ("config_model", "create"):
            if not callable(getattr(factory, member, None)):
                raise ProviderPluginError(self, f"it has no {member}, so it is no ProviderFactory")
        return cast("ProviderFactory", factory)


def discover_providers() -> tuple[InstalledProvider, ...]:
    """List the backends that are installed, by name; imports none of them."""
    found = (
        InstalledProvider(
            name=each.name,
            distribution=None if each.dist is None else f"{each.dist.name} {each.dist.version}",
            reference=each.value,
        )
        for each in entry_points(group=GROUP)
    )
    return tuple(sorted(found, key=lambda each: (each.name, each.reference)))
