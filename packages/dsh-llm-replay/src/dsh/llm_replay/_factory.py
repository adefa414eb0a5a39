"""What the entry point ``replay`` of ``dsh.models`` names."""

from typing import TYPE_CHECKING, Final, final

from dsh.agent import ModelFactory
from dsh.llm_replay._config import ReplayConfig
from dsh.llm_replay._replay import ReplayModel

__all__ = ["ReplayModelFactory", "model_factory"]


@final
class ReplayModelFactory:
    """Makes models that answer from a recording."""

    @property
    def config_model(self) -> type[ReplayConfig]:
        """See ``dsh.agent.ModelFactory.config_model``."""
        return ReplayConfig

    def create(self, name: str, config: ReplayConfig) -> ReplayModel:
        """See ``dsh.agent.ModelFactory.create``; a recording answers under any *name*.

        Raises:
          RecordingError: the file is missing or is no recording.
        """
        del name
        return ReplayModel(config.path)


model_factory: Final = ReplayModelFactory()
"""What the entry point of this package names."""

if TYPE_CHECKING:
    _: ModelFactory[ReplayConfig] = model_factory
