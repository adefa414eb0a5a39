"""The wires that chat models are held against: how each asks, answers and refuses."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic_wire
import openai_wire
from fake_endpoint import Body, Refuse, Reply
from pydantic import SecretStr

from dsh.agent import ChatModel, ContentBlock, FinishReason, Usage
from dsh.llm_anthropic import AnthropicConfig, AnthropicModel
from dsh.llm_openai import OpenAIConfig, OpenAIModel

USAGE = Usage(input_tokens=7, output_tokens=5)


class Answer(Protocol):
    def __call__(
        self, *blocks: ContentBlock, finish: FinishReason = "stop", usage: Usage = USAGE
    ) -> Reply: ...


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A wire, and the adapter that speaks it."""

    name: str
    key: str
    model: Callable[..., AbstractAsyncContextManager[ChatModel]]
    """An adapter for the endpoint at a url, with settings."""
    refuse: Refuse
    answer: Answer
    """A whole answer as it is streamed, every text in two deltas."""
    begun: Callable[[str], list[bytes]]
    """The chunks of an answer that has begun with a text and is not over."""
    failed: Callable[[str], bytes]
    """The event of an overload in the middle of a stream, with the provider's words."""
    results: Callable[[Body], list[tuple[str, str]]]
    """The results of calls that a request carries: id and text."""
    arguments: Callable[[Body], list[object]]
    """The arguments of the calls that a request carries."""

    def __str__(self) -> str:
        return self.name


def _openai(url: str, **settings: Any) -> OpenAIModel:
    merged: Mapping[str, Any] = {"api_key": SecretStr(openai_wire.KEY), **settings}
    return OpenAIModel(OpenAIConfig(base_url=url, **merged))


OPENAI = Dialect(
    name="openai",
    key=openai_wire.KEY,
    model=_openai,
    refuse=openai_wire.refuse,
    answer=openai_wire.answer,
    begun=openai_wire.begun,
    failed=openai_wire.failed,
    results=openai_wire.results,
    arguments=openai_wire.arguments,
)


def _anthropic(url: str, **settings: Any) -> AnthropicModel:
    merged: Mapping[str, Any] = {"api_key": SecretStr(anthropic_wire.KEY), **settings}
    return AnthropicModel(AnthropicConfig(base_url=url, **merged))


ANTHROPIC = Dialect(
    name="anthropic",
    key=anthropic_wire.KEY,
    model=_anthropic,
    refuse=anthropic_wire.refuse,
    answer=anthropic_wire.answer,
    begun=anthropic_wire.begun,
    failed=anthropic_wire.failed,
    results=anthropic_wire.results,
    arguments=anthropic_wire.arguments,
)

DIALECTS = [OPENAI, ANTHROPIC]
