"""Which model a run asks: named on the command line, or by the keys in the environment."""

import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, final

from pydantic import ValidationError

from dsh.agent import ChatModel, discover_models
from dsh.cli._errors import BadInputError, NoModelChosenError

__all__ = ["ENDPOINTS", "REPLAY", "Endpoint", "ModelChoice", "ModelSource", "choose_model"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A word in front of a model's name, and what it means."""

    plugin: str
    """The installed model factory that speaks to it."""
    key: str
    """The environment variable with its key."""
    url: str
    """The environment variable with another address for it."""
    default: str
    """The model that is asked where none is named."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def defaults(self) -> dict[str, object]:
        """What is set for it before the environment is asked."""
        return {**self.settings, "api_key_env": self.key}


ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    "anthropic": Endpoint(
        plugin="anthropic",
        key="ANTHROPIC_API_KEY",
        url="ANTHROPIC_BASE_URL",
        default="claude-sonnet-4-5",
    ),
    "openai": Endpoint(
        plugin="openai",
        key="OPENAI_API_KEY",
        url="OPENAI_BASE_URL",
        default="gpt-5-mini",
        settings={
            "base_url": "https://api.openai.com/v1",
            "max_tokens_field": "max_completion_tokens",
        },
    ),
    "deepseek": Endpoint(
        plugin="openai",
        key="DEEPSEEK_API_KEY",
        url="DEEPSEEK_BASE_URL",
        default="deepseek-chat",
        settings={"base_url": "https://api.deepseek.com"},
    ),
}
"""In the order in which the environment is searched for keys."""

REPLAY: Final = "replay"


class ModelSource(Protocol):
    """A model that can be had."""

    @property
    def name(self) -> str:
        """What it is registered as, and called in the logs."""
        ...

    @property
    def shown(self) -> str:
        """What a person is told that it is."""
        ...

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """The model; whoever enters it keeps it open for the run."""
        ...


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model that has been chosen and not opened yet."""

    plugin: str
    name: str
    """What it is called, by the one who made it and in the logs."""
    settings: Mapping[str, object] = field(default_factory=dict[str, object])
    shown: str
    """As the command line would name it."""

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """The model; whoever enters it keeps it open for the run.

        Raises:
          BadInputError: nothing installed speaks to it, or its settings are wrong.
          PluginError: what is installed is broken.
          ModelError: something is missing, such as its key.
        """
        installed = discover_models()
        if self.plugin not in installed:
            known = ", ".join(installed) or "none"
            raise BadInputError(
                "--model",
                f"{self.shown!r} needs a model {self.plugin!r}, "
                f"which is not installed; installed: {known}",
            )
        factory = installed[self.plugin].load()
        try:
            config = factory.config_model.model_validate(dict(self.settings))
        except ValidationError as exc:
            problem = exc.errors(include_url=False)[0]
            where = ".".join(map(str, problem["loc"]))
            raise BadInputError("--model", f"{self.shown!r}: {where}: {problem['msg']}") from exc
        return factory.create(self.name, config)


def choose_model(named: str | None, environment: Mapping[str, str]) -> ModelChoice:
    """The model that *named* says, or the first one whose key is in *environment*.

    Raises:
      BadInputError: *named* has no colon, or nothing on one side of it.
      NoModelChosenError: nothing is named, and there is no key.
    """
    if named is None:
        for kind, endpoint in ENDPOINTS.items():
            if environment.get(endpoint.key):
                return _at(kind, endpoint, endpoint.default, environment)
        raise NoModelChosenError(tuple(endpoint.key for endpoint in ENDPOINTS.values()))
    kind, _, name = named.partition(":")
    if not kind or not name:
        raise BadInputError(
            "--model",
            f"{named!r} is not like KIND:NAME; kinds are {', '.join([*ENDPOINTS, REPLAY])}",
        )
    if kind == REPLAY:
        path = Path(name)
        if not os.path.isfile(path):
            raise BadInputError("--model", f"there is no recording {name!r}")
        return ModelChoice(plugin=REPLAY, name=path.name, settings={"path": path}, shown=named)
    if kind in ENDPOINTS:
        return _at(kind, ENDPOINTS[kind], name, environment)
    return ModelChoice(plugin=kind, name=name, shown=named)


def _at(kind: str, endpoint: Endpoint, name: str, environment: Mapping[str, str]) -> ModelChoice:
    url = environment.get(endpoint.url)
    settings = endpoint.defaults
    if url:
        settings["base_url"] = url
    return ModelChoice(plugin=endpoint.plugin, name=name, settings=settings, shown=f"{kind}:{name}")


if TYPE_CHECKING:
    _: type[ModelSource] = ModelChoice
