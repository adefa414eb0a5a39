"""The backend as a plugin: its configuration, and how a host makes it."""

from typing import TYPE_CHECKING, Final, final

from pydantic import Field

from dsh.subagent import ProviderFactory, ProviderHost
from dsh.subagent_fork._provider import ForkProvider
from dsh.subagent_inprocess import InProcessConfig

__all__ = ["ForkConfig", "ForkFactory", "factory"]


class ForkConfig(InProcessConfig):
    """The backend's part of a host's configuration."""

    provider_name: str = Field(
        default="fork", min_length=1, description="What the backend is registered under."
    )


@final
class ForkFactory:
    """Makes the backend for a host that finds it by entry point."""

    config_model = ForkConfig
    """What a host's configuration of it is validated with."""

    def create(self, host: ProviderHost, config: ForkConfig, /) -> ForkProvider:
        """See ``dsh.subagent.ProviderFactory``."""
        return ForkProvider(
            host.agents,
            name=config.provider_name,
            structured_nudge_retries=config.structured_nudge_retries,
        )


factory: Final = ForkFactory()
"""What the entry point ``fork`` names."""

if TYPE_CHECKING:
    _: ProviderFactory = factory
