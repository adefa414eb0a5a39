"""The backend as a plugin: its configuration, and how a host makes it."""

from typing import TYPE_CHECKING, Final, final

from pydantic import Field

from dsh.subagent import ProviderFactory, ProviderHost
from dsh.subagent_inprocess import InProcessConfig
from dsh.subagent_spawn._provider import SpawnProvider

__all__ = ["SpawnConfig", "SpawnFactory", "factory"]


class SpawnConfig(InProcessConfig):
    """The backend's part of a host's configuration."""

    provider_name: str = Field(
        default="spawn", min_length=1, description="What the backend is registered under."
    )


@final
class SpawnFactory:
    """Makes the backend for a host that finds it by entry point."""

    config_model = SpawnConfig
    """What a host's configuration of it is validated with."""

    def create(self, host: ProviderHost, config: SpawnConfig, /) -> SpawnProvider:
        """See ``dsh.subagent.ProviderFactory``."""
        return SpawnProvider(
            host.agents,
            name=config.provider_name,
            structured_nudge_retries=config.structured_nudge_retries,
        )


factory: Final = SpawnFactory()
"""What the entry point ``spawn`` names."""

if TYPE_CHECKING:
    _: ProviderFactory = factory
