"""Records the demo of `dsh` anew from a real model behind an OpenAI-compatible endpoint.

    .venv/bin/python scripts/record_demo.py RECORDING http://127.0.0.1:8080/v1 MODEL [SEED]

Without an endpoint it records the stand-in of `demo_by_hand.py`. The file must not exist. What the
demo says of its model first is `about.txt` beside the recording, and is written by hand.
"""

import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

import trio
from pydantic import SecretStr

from demo_by_hand import ByHand
from dsh.agent import ChatModel, ChatRequest, ChatResponse, OnDelta
from dsh.cli._demo import MODEL_NAME, demo_asking, demo_parts, material
from dsh.cli._running import ask
from dsh.llm_openai import OpenAIConfig, OpenAIModel
from dsh.llm_replay import RecordingModel


@final
@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Asks with sampling options that are no part of the recorded requests."""

    model: ChatModel
    seed: int

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See `dsh.agent.ChatModel.generate`."""
        options = {"temperature": 0.3, "seed": self.seed, "max_tokens": 160}
        return await self.model.generate(replace(request, options=options), on_delta=on_delta)


@final
@dataclass(frozen=True, kw_only=True)
class Recorded:
    """The model that is recorded."""

    config: OpenAIConfig | None
    """How the model is reached; ``None`` is the stand-in written by hand."""
    path: Path
    seed: int
    name: str = MODEL_NAME

    @property
    def shown(self) -> str:
        """See `ModelSource.shown`."""
        return "turns written by hand" if self.config is None else str(self.config.model)

    def open(self) -> AbstractAsyncContextManager[ChatModel]:
        """See `ModelSource.open`."""
        return self._opened()

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[ChatModel]:
        if self.config is None:
            async with RecordingModel(ByHand(), self.path) as recording:
                yield recording
            return
        async with OpenAIModel(self.config) as model:
            sampled = Sampled(model=model, seed=self.seed)
            async with RecordingModel(sampled, self.path) as recording:
                yield recording


def main(recording: str, url: str = "", model: str = "", seed: str = "1") -> int:
    """Record the demo, and return the exit status it would have."""
    config = None
    if url:
        config = OpenAIConfig(base_url=url, model=model, api_key=SecretStr("none"), timeout=600)
    source = Recorded(config=config, path=Path(recording), seed=int(seed))
    with material() as demo:
        return trio.run(ask, demo_parts(source, demo), demo_asking(demo))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
