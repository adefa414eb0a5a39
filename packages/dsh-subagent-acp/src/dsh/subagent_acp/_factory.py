"""The backend as a plugin."""

from typing import TYPE_CHECKING, Final, final

from dsh.subagent import ProviderFactory, ProviderHost
from dsh.subagent_acp._config import AcpConfig
from dsh.subagent_acp._provider import AcpProvider

__all__ = ["AcpFactory", "factory"]


@final
class AcpFactory:
    """Makes the backend of an `AcpConfig`."""

    config_model = AcpConfig
    """What a host's configuration of it is validated with."""

    def create(self, host: ProviderHost, config: AcpConfig, /) -> AcpProvider:
        """See ``dsh.subagent.ProviderFactory``; of the host it needs nothing."""
        return AcpProvider(config)


factory: Final = AcpFactory()
"""What the entry point ``acp`` names."""

if TYPE_CHECKING:
    _: ProviderFactory = factory
