"""An agent's life: born unpublished, driven by whoever opened it, ended to quiescence."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, final
from uuid import uuid4

import trio

from dsh.agent import (
    Agent,
    AgentId,
    AgentOptions,
    AgentSpec,
    ContentBlock,
    Hooks,
    Message,
    ModelRegistry,
    Prompt,
    Session,
    SessionHeader,
    SessionId,
    TextBlock,
    ToolRegistry,
    Usage,
)
from dsh.agent_loop._turn import run_turn

__all__ = ["LoopAgent"]


@final
class LoopAgent:
    """An agent of this loop. Whoever opened it drives it, by waiting for it to be idle."""

    def __init__(
        self,
        spec: AgentSpec,
        *,
        models: ModelRegistry,
        hooks: Hooks,
        tools: ToolRegistry,
        prompt: Prompt,
    ) -> None:
        self.id = spec.id or AgentId(str(uuid4()))
        self.session = Session(
            SessionHeader(
                id=SessionId(self.id),
                cwd=spec.cwd,
                parent_session=spec.parent.session.header.id if spec.parent else None,
                seed_length=len(spec.seed.events) if spec.seed else 0,
            ),
            seed=spec.seed,
        )
        self.options: AgentOptions = spec.options
        self.cwd = spec.cwd
        self.depth = spec.depth
        self.hooks = Hooks(hooks)
        self.tools = ToolRegistry(tools, hooks=self.hooks)
        self.prompt = Prompt(prompt, hooks=self.hooks)
        self.usage = Usage()
        self._models = models
        self._inbox: list[Message] = []
        self._adopted: set[trio.CancelScope] = set()
        self._nursery: trio.Nursery | None = None

    @property
    def nursery(self) -> trio.Nursery:
        if self._nursery is None:
            raise RuntimeError(f"agent {self.id!r} is not open")
        return self._nursery

    def send(self, content: str | tuple[ContentBlock, ...], *, source: str = "user") -> None:
        blocks = (TextBlock(text=content),) if isinstance(content, str) else content
        self._inbox.append(Message(role="user", content=blocks, source=source))

    def cancel(self, reason: str = "cancelled") -> None:
        self._inbox.clear()

    async def wait_idle(self) -> None:
        while self._inbox:
            prompts, self._inbox = self._inbox, []
            await run_turn(self, self._models, prompts)

    def dispatch(self, event: object) -> None:
        self.hooks.dispatch(event)

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        self._adopted.add(cancel_scope)
        return lambda: self._adopted.discard(cancel_scope)

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator["LoopAgent"]:
        """The agent with its nursery open; leaving cancels and awaits everything in it."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            try:
                yield self
            finally:
                for scope in self._adopted:
                    scope.cancel("the parent agent ends")
                nursery.cancel_scope.cancel("the agent ends")


if TYPE_CHECKING:
    _: type[Agent] = LoopAgent
