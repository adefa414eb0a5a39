"""What a run's children run on: named on the command line, found among what is installed."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from pydantic import BaseModel, ValidationError

from dsh.agent import Plugin
from dsh.cli._errors import BadInputError
from dsh.subagent import ProviderFactory, ProviderHost, SubagentProvider, discover_providers
from dsh.subagent_acp import PRESETS, AcpConfig, preset

__all__ = ["ACP", "ProviderChoice", "choose_provider"]

FLAG: Final = "--provider"
ACP: Final = "acp"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderChoice:
    """A backend that has been chosen and not made yet."""

    plugin: Plugin[ProviderFactory]
    name: str
    """What it is registered under."""
    config: BaseModel | None = None
    """Its settings; ``None`` where its own defaults will do."""

    def make(self, host: ProviderHost) -> SubagentProvider:
        """The backend, for the agents of *host*.

        Raises:
          BadInputError: it needs settings that the command line has no way to give.
          PluginError: it is broken, or offered more than once.
        """
        factory = self.plugin.load()
        try:
            config = factory.config_model() if self.config is None else self.config
        except ValidationError as exc:
            missing = ", ".join(".".join(map(str, error["loc"])) for error in exc.errors())
            raise BadInputError(FLAG, f"{self.name!r} cannot do without {missing}") from exc
        return factory.create(host, config)


def choose_provider(named: str, environment: Mapping[str, str] | None = None) -> ProviderChoice:
    """The backend that *named* says: ``NAME``, or ``acp:AGENT``.

    AGENT is a preset or a program. The credentials that a preset names are taken from
    *environment*: whoever names the agent means it to have them.

    Raises:
      BadInputError: nothing of that name is installed.
    """
    installed = discover_providers()
    kind, colon, agent = named.partition(":")
    if kind not in installed:
        known = ", ".join(installed) or "none"
        raise BadInputError(FLAG, f"there is no {kind!r}; installed: {known}")
    if kind == ACP:
        config = _agent_config(agent, environment or {})
        return ProviderChoice(plugin=installed[kind], name=config.provider_name, config=config)
    if colon:
        raise BadInputError(FLAG, f"{named!r}: only {ACP} takes a name after a colon")
    return ProviderChoice(plugin=installed[kind], name=kind)


def _agent_config(agent: str, environment: Mapping[str, str]) -> AcpConfig:
    known = PRESETS.get(agent)
    if not agent:
        raise BadInputError(FLAG, f"which agent? {ACP}:NAME, of {', '.join(PRESETS)}, or a program")
    if shutil.which(agent if known is None else known.command) is None:
        how = "it is neither a preset nor a program" if known is None else known.install
        raise BadInputError(FLAG, f"the agent {agent!r} is not installed: {how}")
    name = f"{ACP}:{agent}"
    if known is None:
        return AcpConfig(provider_name=name, command=agent)
    env = {key: environment[key] for key in known.credentials if key in environment}
    return preset(agent, provider_name=name, env=env)
