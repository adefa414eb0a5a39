"""The backend as a plugin."""

from typing import TYPE_CHECKING, final

from dsh.subagent import ProviderFactory, ProviderHost
from dsh.subagent_acp._config import AcpConfig
from dsh.subagent_acp._provider import AcpProvider

__all__ = ["AcpFactory"]


@final
class AcpFactory:
    """What the entry point ``acp`` names."""

    config_model = AcpConfig

    def create(self, host: ProviderHost, config: AcpConfig, /) -> AcpProvider:
        """See ``dsh.subagent.ProviderFactory``; of the host it needs nothing."""
        return AcpProvider(config)


if TYPE_CHECKING:
    _: type[ProviderFactory] = AcpFactory
