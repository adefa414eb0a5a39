"""An asyncio program for each test, run to its end with nothing left behind."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import pytest
import trio

from dsh.agent import AgentId, TextBlock
from dsh.agent.testing import assert_no_leaks
from dsh.bridge_asyncio import Bridge, Mode, open_bridge
from dsh.subagent import (
    DelegatingParent,
    Publish,
    ResolvedRequest,
    RunEnded,
    RunStarted,
    SubagentResult,
    SubagentService,
    SubagentStartRequest,
)
from dsh.subagent.testing import Act, ScriptedParent, ScriptedProvider

T = TypeVar("T")


class Stand:
    """A composition with a scripted backend, and what is known of it from outside."""

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.provider = ScriptedProvider()
        self.parent = ScriptedParent(id="root")
        self.thread: threading.Thread | None = None
        self.token: trio.lowlevel.TrioToken | None = None
        self.torn_down = False

    def new(self, *acts: Act) -> "Stand":
        """Another one, in the same mode, that does that."""
        stand = Stand(self.mode)
        stand.script(*acts)
        return stand

    def script(self, *acts: Act) -> None:
        """Have the backend do that."""
        self.provider = ScriptedProvider(*acts)

    @asynccontextmanager
    async def compose(self, subagents: SubagentService) -> AsyncGenerator[DelegatingParent]:
        self.thread = threading.current_thread()
        self.token = trio.lowlevel.current_trio_token()
        async with self.parent:
            subagents.register(self.provider)
            yield self.parent
            await trio.lowlevel.checkpoint()  # a teardown is not cancelled
            self.torn_down = True

    def call_trio(self, function: Callable[[], object]) -> None:
        """Have trio's loop call that."""
        assert self.token is not None
        self.token.run_sync_soon(function)

    def open(self) -> AbstractAsyncContextManager[Bridge]:
        """The bridge."""
        return open_bridge(self.compose, mode=self.mode)

    def request(self, bridge: Bridge, **fields: Any) -> SubagentStartRequest[Any]:
        """A request of its parent."""
        fields = {"prompt": "go", "parent": bridge.parent} | fields
        return SubagentStartRequest(**fields)

    def check(self) -> None:
        """Nothing is open: every run that started has ended, in this order."""
        assert self.provider.running == set()
        started = [event.child_id for event in self.parent.heard(RunStarted)]
        assert sorted(started) == sorted(e.child_id for e in self.parent.heard(RunEnded))

    @staticmethod
    def run(
        main: Callable[[], Awaitable[T]], *, loop_factory: Callable[[], Any] | None = None
    ) -> T:
        """Run *main* in a loop of its own; no thread is left, and nothing is complained of."""
        complaints: list[dict[str, Any]] = []

        async def watched() -> T:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: complaints.append(context))
            return await main()

        with assert_no_leaks(), asyncio.Runner(debug=True, loop_factory=loop_factory) as runner:
            try:
                return runner.run(watched())
            finally:
                assert complaints == []

    @staticmethod
    def tidy(text: str = "so far") -> Act:
        """Never answer; cancelled, clean up over several steps of trio's loop."""

        async def act(
            _: ResolvedRequest, publish: Publish, child_id: AgentId
        ) -> SubagentResult[Any]:
            await trio.lowlevel.checkpoint()
            report = publish(child_id)
            report.partial(SubagentResult(stop_reason="aborted", output=(TextBlock(text=text),)))
            try:
                await trio.sleep_forever()
            finally:
                with trio.CancelScope(shield=True):
                    for _step in range(3):
                        await trio.lowlevel.checkpoint()
            raise AssertionError("unreachable")

        return act


@pytest.fixture(params=["guest", "thread"])
def mode(request: pytest.FixtureRequest) -> Mode:
    return request.param


@pytest.fixture
def stand(mode: Mode) -> Stand:
    return Stand(mode)
