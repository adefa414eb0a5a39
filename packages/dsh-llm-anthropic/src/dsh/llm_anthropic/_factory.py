"""What the entry point ``anthropic`` of ``dsh.models`` names."""

from typing import TYPE_CHECKING, Final, final

from dsh.agent import ModelFactory
from dsh.llm_anthropic._config import AnthropicConfig
from dsh.llm_anthropic._model import AnthropicModel

__all__ = ["AnthropicModelFactory", "model_factory"]


@final
class AnthropicModelFactory:
    """Makes models of Anthropic's API from their settings."""

    @property
    def config_model(self) -> type[AnthropicConfig]:
        """See ``dsh.agent.ModelFactory.config_model``."""
        return AnthropicConfig

    def create(self, name: str, config: AnthropicConfig) -> AnthropicModel:
        """See ``dsh.agent.ModelFactory.create``.

        *name* is what the API calls the model too, unless the settings say otherwise.
        """
        return AnthropicModel(config.model_copy(update={"model": config.model or name}))


model_factory: Final = AnthropicModelFactory()
"""What the entry point of this package names."""

if TYPE_CHECKING:
    _: ModelFactory[AnthropicConfig] = model_factory
