"""How a host finds the models that installed packages bring, and makes one from its settings."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar, cast

from dsh.agent._model import ChatModel
from dsh.agent._plugins import Plugin, discover

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["AnyModelFactory", "ModelFactory", "discover_models"]

_GROUP: Final = "dsh.models"
"""The group of entry points that name a ``ModelFactory``."""

ConfigT = TypeVar("ConfigT", bound="BaseModel")


class ModelFactory(Protocol[ConfigT]):
    """Makes chat models from a host's settings; what an entry point of ``dsh.models`` names."""

    @property
    def config_model(self) -> type[ConfigT]:
        """The pydantic model of the settings; a host validates what it read with it."""
        ...

    def create(self, name: str, config: ConfigT) -> AbstractAsyncContextManager[ChatModel]:
        """A model to be registered under *name*.

        Entering it gives the model; leaving it closes what the model holds (connections, files).
        Whoever enters it keeps it open for as long as the model is registered.

        Raises:
          ModelError: the settings lack something, such as a key (``AUTH``).
        """
        ...


AnyModelFactory: TypeAlias = ModelFactory[Any]
"""A factory found at run time: its settings are validated by its own ``config_model``."""


def discover_models() -> Mapping[str, Plugin[AnyModelFactory]]:
    """The model factories that are installed, by the name of their entry point."""
    return discover(_GROUP, _model_factory)


def _model_factory(value: object) -> AnyModelFactory:
    if not (hasattr(value, "config_model") and hasattr(value, "create")):
        kind = type(value).__name__
        raise TypeError(f"{kind} is no ModelFactory, which has config_model and create")
    return cast(AnyModelFactory, value)
