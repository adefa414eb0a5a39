"""What no interrupt can tear, what a parent's own refusal becomes, and what type checkers see."""

from collections.abc import Callable
from typing import Any, assert_type

import pytest
import trio
from pydantic import BaseModel

from dsh.agent import AgentDisposedError, AgentId
from dsh.subagent import (
    ParentDisposedError,
    Publish,
    ResolvedRequest,
    RunEnded,
    RunStarted,
    SubagentResult,
    SubagentRun,
    SubagentService,
    SubagentStartRequest,
)
from dsh.subagent.testing import ScriptedParent, ScriptedProvider, reply


async def test_publishing_and_settling_are_protected_and_the_backend_is_not(seam: Any) -> None:
    """An interrupt never falls between a run and its events, nor waits for a backend's code."""
    protected: list[tuple[str, bool]] = []

    def note(where: str) -> None:
        protected.append((where, trio.lowlevel.currently_ki_protected()))

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        note("serve")
        report = publish(child_id)
        report.settle(SubagentResult(stop_reason="completed"))
        note("serve, later")
        return SubagentResult(stop_reason="completed")

    def started(_: RunStarted) -> None:
        note("publish")

    def ended(_: RunEnded) -> None:
        note("settle")

    seam.parent.hooks.on(RunStarted, started)
    seam.parent.hooks.on(RunEnded, ended)
    async with await seam.start(act):
        pass
    assert protected == [
        ("serve", False),
        ("publish", True),
        ("settle", True),
        ("serve, later", False),
    ]


async def test_an_agent_that_ends_is_a_parent_that_ends() -> None:
    """An agent says so in its own words, and they are the cause of the seam's."""

    class Ending:
        id, cwd, depth = AgentId("ending"), None, 0

        @property
        def nursery(self) -> trio.Nursery:
            raise AssertionError

        def dispatch(self, event: object) -> None:
            raise AssertionError

        def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
            raise AgentDisposedError(self.id)

    service, provider = SubagentService(), ScriptedProvider()
    service.register(provider)
    with pytest.raises(ParentDisposedError, match="'ending'") as caught:
        await service.start("scripted", SubagentStartRequest(prompt="go", parent=Ending()))
    assert isinstance(caught.value.__cause__, AgentDisposedError)
    assert provider.requests == []


class Summary(BaseModel):
    title: str


async def test_the_type_asked_for_is_the_type_of_the_value() -> None:
    service = SubagentService()
    service.register(ScriptedProvider(reply(structured={"title": "Docs"})))
    async with ScriptedParent() as parent:
        typed = SubagentStartRequest(prompt="go", parent=parent, output_schema=Summary)
        assert_type(typed, SubagentStartRequest[Summary])
        run = await service.start("scripted", typed)
        assert_type(run, SubagentRun[Summary])
        async with run:
            assert_type((await run.result()).value, Summary | None)
        plain = SubagentStartRequest(prompt="go", parent=parent)
        result = await service.run("scripted", plain)
        assert_type(result, SubagentResult[object])
        general: SubagentResult = await run.result()
        assert general.value == Summary(title="Docs")
