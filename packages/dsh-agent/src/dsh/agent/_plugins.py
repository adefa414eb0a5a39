"""What installed packages offer: the entry points of a group, each loaded on its own.

The one mechanism behind ``discover_models`` (``_model_factory.py``) and its like. Installed is not
enabled: discovery imports nothing, and a host loads what it wants by name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from dsh.agent._errors import AgentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["Plugin", "PluginError", "discover"]

T = TypeVar("T")


class PluginError(AgentError):
    """An installed plugin cannot be used; its ``__cause__``, if any, is what went wrong in it."""

    code = "BROKEN_PLUGIN"

    def __init__(self, plugin: "Plugin[Any]", problem: str) -> None:
        super().__init__(
            f"plugin {plugin.name!r} of {plugin.group} "
            f"({', '.join(plugin.distributions)}) {problem}"
        )
        self.name, self.group = plugin.name, plugin.group


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin(Generic[T]):
    """One ``name`` in a ``group`` of entry points, not imported yet."""

    name: str
    group: str
    entries: "tuple[EntryPoint, ...]"
    """What is offered under the name; more than one is a clash, which ``load`` refuses."""
    check: Callable[[object], T]
    """Gives what was loaded its type, or raises a ``TypeError`` that says what it lacks."""

    @property
    def distributions(self) -> tuple[str, ...]:
        """Who offers it: distribution and version, as in ``dsh-llm-openai 0.1.0``."""
        found = (entry.dist for entry in self.entries)
        return tuple("unknown" if d is None else f"{d.name} {d.version}" for d in found)

    def load(self) -> T:
        """Import the plugin. A failure is this plugin's alone: the others stay usable.

        Raises:
          PluginError: importing it failed, it is not what the group asks for, or two
            distributions offer the name.
        """
        entry, *others = self.entries
        if others:
            raise PluginError(self, "is offered more than once: uninstall all but one")
        try:
            return self.check(entry.load())
        except (Exception, SystemExit) as exc:  # a module that exits when imported is broken, too
            raise PluginError(self, f"cannot be used: {type(exc).__name__}: {exc}") from exc


def discover(group: str, check: Callable[[object], T]) -> Mapping[str, Plugin[T]]:
    """The plugins of *group* that are installed, by name; none is imported.

    Args:
      group: the group of entry points, such as ``dsh.models``.
      check: see ``Plugin.check``.
    """
    from importlib.metadata import entry_points  # costs 19 ms: only who looks for plugins pays

    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        found.setdefault(entry.name, []).append(entry)
    return MappingProxyType(
        {
            name: Plugin(name=name, group=group, entries=tuple(entries), check=check)
            for name, entries in found.items()
        }
    )
