"""A chat model that follows a script and remembers what it was asked.

Next: ``_steps.py``, what a script is made of.
"""

import inspect
from typing import TYPE_CHECKING, final

import trio

from dsh.agent._messages import TextBlock, ThinkingBlock
from dsh.agent._model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    ModelError,
    OnDelta,
    TextDelta,
    ThinkingDelta,
)
from dsh.agent.testing._steps import Failure, Hang, Script, Step

__all__ = ["ScriptedModel"]


@final
class ScriptedModel:
    """Answers each request with the next step of its script; records every request.

    As a context manager it checks itself at the end, see ``check``. A request beyond the script
    fails with ``EXHAUSTED``, and is remembered for ``check`` even where somebody contained it.
    """

    def __init__(self, *script: Script) -> None:
        self._script = script
        self._requests: list[ChatRequest] = []

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """Every request so far, as it was: frozen, its messages a view that does not grow."""
        return tuple(self._requests)

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """Follow the script; deltas are one per block.

        Raises:
          ModelError: the script says so, or has no further step (``EXHAUSTED``).
        """
        number = len(self._requests)
        self._requests.append(request)
        await trio.lowlevel.checkpoint()
        if number >= len(self._script):
            raise ModelError(
                f"request {number + 1}, and the steps of the script are {len(self._script)}",
                code="EXHAUSTED",
            )
        script = self._script[number]
        return await self._follow(await _step(script, request), on_delta)

    async def _follow(self, step: Step, on_delta: OnDelta) -> ChatResponse:
        if isinstance(step, ModelError):
            raise step
        if isinstance(step, Hang | Failure):
            if step.partial:
                on_delta(TextDelta(text=step.partial))
            if isinstance(step, Failure):
                raise step.error
            await trio.sleep_forever()
        for block in step.content:
            if isinstance(block, TextBlock):
                on_delta(TextDelta(text=block.text))
            elif isinstance(block, ThinkingBlock):
                on_delta(ThinkingDelta(text=block.text))
        return step

    def check(self) -> None:
        """Fail unless every step was asked for, and nothing beyond.

        Raises:
          AssertionError: steps are left over, or requests came after the last.
        """
        asked, steps = len(self._requests), len(self._script)
        assert asked == steps, f"requests made: {asked}, steps of the script: {steps}"

    def __enter__(self) -> "ScriptedModel":
        return self

    def __exit__(self, kind: object, error: object, _trace: object) -> None:
        if error is None:
            self.check()

    def __repr__(self) -> str:
        return f"<ScriptedModel {len(self._requests)}/{len(self._script)}>"


async def _step(script: Script, request: ChatRequest) -> Step:
    if not callable(script):
        return script
    made = script(request)
    return await made if inspect.isawaitable(made) else made


if TYPE_CHECKING:
    _: type[ChatModel] = ScriptedModel
