"""What a run's children run on: named on the command line, found among what is installed."""

from dataclasses import dataclass
from typing import final

from pydantic import ValidationError

from dsh.agent import Plugin
from dsh.cli._errors import BadInputError
from dsh.subagent import ProviderFactory, ProviderHost, SubagentProvider, discover_providers

__all__ = ["ProviderChoice", "choose_provider"]

FLAG = "--provider"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """A backend that has been chosen and not made yet."""

    plugin: Plugin[ProviderFactory]

    @property
    def name(self) -> str:
        """What it is registered under."""
        return self.plugin.name

    def make(self, host: ProviderHost) -> SubagentProvider:
        """The backend, for the agents of *host*.

        Raises:
          BadInputError: it needs settings that the command line has no way to give.
          PluginError: it is broken, or offered more than once.
        """
        factory = self.plugin.load()
        try:
            config = factory.config_model()
        except ValidationError as exc:
            missing = ", ".join(".".join(map(str, error["loc"])) for error in exc.errors())
            raise BadInputError(FLAG, f"{self.name!r} cannot do without {missing}") from exc
        return factory.create(host, config)


def choose_provider(named: str) -> ProviderChoice:
    """The installed backend that *named* says.

    Raises:
      BadInputError: nothing of that name is installed.
    """
    installed = discover_providers()
    if named not in installed:
        known = ", ".join(installed) or "none"
        raise BadInputError(FLAG, f"there is no {named!r}; installed: {known}")
    return ProviderChoice(plugin=installed[named])
