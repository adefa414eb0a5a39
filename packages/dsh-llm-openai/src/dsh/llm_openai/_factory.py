"""What the entry point ``openai`` of ``dsh.models`` names."""

from typing import TYPE_CHECKING, Final, final

from dsh.agent import ModelFactory
from dsh.llm_openai._config import OpenAIConfig
from dsh.llm_openai._model import OpenAIModel

__all__ = ["OpenAIModelFactory", "model_factory"]


@final
class OpenAIModelFactory:
    """Makes models of OpenAI-compatible endpoints from their settings."""

    @property
    def config_model(self) -> type[OpenAIConfig]:
        """See ``dsh.agent.ModelFactory.config_model``."""
        return OpenAIConfig

    def create(self, name: str, config: OpenAIConfig) -> OpenAIModel:
        """See ``dsh.agent.ModelFactory.create``.

        *name* is what the endpoint calls the model too, unless the settings say otherwise.
        """
        return OpenAIModel(config.model_copy(update={"model": config.model or name}))


model_factory: Final = OpenAIModelFactory()
"""What the entry point of this package names."""

if TYPE_CHECKING:
    _: ModelFactory[OpenAIConfig] = model_factory
