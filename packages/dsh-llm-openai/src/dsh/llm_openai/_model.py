"""The chat model."""

import os
from typing import TYPE_CHECKING, final

from pydantic import SecretStr

from dsh.agent import ChatModel, ChatRequest, ChatResponse, OnDelta
from dsh.agent.wire import checked_key
from dsh.llm_openai._client import Client
from dsh.llm_openai._config import OpenAIConfig
from dsh.llm_openai._request import request_body

__all__ = ["OpenAIModel"]


@final
class OpenAIModel:
    """A model behind an OpenAI-compatible endpoint.

    The vendor's SDK is imported, and connections are opened, when the first request is made.
    Whoever makes one closes it (``async with``): its connections outlive a request.

    Raises:
      ModelError: no key was given, and the variable that should hold one is unset; or the key has
        a character that no key has (``AUTH``).
    """

    def __init__(self, config: OpenAIConfig | None = None) -> None:
        self._config = config or OpenAIConfig()
        self._key = _key(self._config)
        self._client: Client | None = None

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel.generate``.

        A request refused before its answer began is repeated as configured; an answer that broke
        off is not. Cancelling ends either at once, the wait before a repetition included.
        """
        body = request_body(request, self._config)
        if self._client is None:
            self._client = Client(self._config, self._key.get_secret_value())
        return await self._client.generate(body, on_delta)

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> "OpenAIModel":
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()


def _key(config: OpenAIConfig) -> SecretStr:
    given = config.api_key or SecretStr(os.environ.get(config.api_key_env, ""))
    key = given.get_secret_value()
    return SecretStr(checked_key(key, url=config.base_url, variable=config.api_key_env))


if TYPE_CHECKING:
    _: type[ChatModel] = OpenAIModel
