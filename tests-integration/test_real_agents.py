"""Agents that exist, from the registries, each driven through all a child goes through.

``scripts/agents`` installs them and runs this; see docs/reliability.md.
"""

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import trio
from agent_model import ANSWER, serve
from fake_endpoint import FakeEndpoint, fake_endpoint
from real_agents import AGENTS, installed

from dsh.subagent import SubagentResult, SubagentService, SubagentStartRequest
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpConfig, AcpProvider, PermissionProgress

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(installed() is None, reason="scripts/agents installs them"),
]
MARK = "DSH_TEST_RUN"
LIMIT = 120
SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}


class Stage:
    """One agent, one model, one parent; ``mark`` is in the environment of all that is started."""

    def __init__(
        self, parent: ScriptedParent, model: FakeEndpoint, config: AcpConfig, work: Path
    ) -> None:
        self.parent, self.model, self.work = parent, model, work
        self.mark = str(uuid4())
        env = config.env | {MARK: self.mark}
        self._config = config.model_copy(update={"env": env})

    def request(self, prompt: str, **fields: Any) -> SubagentStartRequest[Any]:
        scope = trio.CancelScope(relative_deadline=LIMIT)
        return SubagentStartRequest(prompt=prompt, parent=self.parent, cancel_scope=scope, **fields)

    def service(self, **settings: Any) -> SubagentService:
        service = SubagentService()
        update = {"provider_name": "real", "startup_timeout": LIMIT, **settings}
        service.register(AcpProvider(self._config.model_copy(update=update)))
        return service

    async def run(self, prompt: str, **settings: Any) -> SubagentResult[Any]:
        return await self.service(**settings).run("real", self.request(prompt))

    def left(self) -> list[str]:
        """Processes that carry the mark and can still run, whatever group they are in."""
        found: list[str] = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    marked = f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes()
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:  # it ended while we looked, or is not ours to look at
                    continue
                if marked and words:
                    found.append(words)
        return found


@pytest.fixture(params=AGENTS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stage]:
    place, home, work = installed(), tmp_path / "home", tmp_path / "work"
    assert place is not None
    home.mkdir()
    work.mkdir()
    async with fake_endpoint(serve) as model, ScriptedParent(cwd=str(work)) as parent:
        config = AGENTS[request.param](place, home, model.url)
        made = Stage(parent, model, config, work)
        yield made
        assert made.left() == []


async def test_it_starts_answers_and_is_gone(stage: Stage) -> None:
    began = time.monotonic()
    run = await stage.service().start("real", stage.request("Please ANSWER."))
    started = time.monotonic()
    result = await run.result()
    ended = time.monotonic()
    await run.aclose()
    assert result.completed
    assert result.text.endswith(ANSWER)
    print(f" started in {started - began:.2f} s, answered and ended in {ended - started:.2f} s ")


async def test_a_command_it_may_not_run_is_not_run(stage: Stage) -> None:
    result = await stage.run("SHELL <touch made-it>", permission="reject")
    (asked,) = stage.parent.heard(PermissionProgress)
    assert not asked.allowed
    assert asked.option_id is not None
    assert not (stage.work / "made-it").exists()
    assert result.stop_reason in ("completed", "no_output", "aborted"), result


async def test_a_command_it_may_run_is_run(stage: Stage) -> None:
    result = await stage.run("SHELL <touch made-it>", permission="allow")
    (asked,) = stage.parent.heard(PermissionProgress)
    assert asked.allowed
    assert (stage.work / "made-it").exists()
    assert (result.stop_reason, result.text, result.tool_calls) == ("completed", ANSWER, 1)


async def test_it_is_cancelled_in_the_middle_of_its_turn(stage: Stage) -> None:
    run = await stage.service().start("real", stage.request("Please STALL."))
    with trio.fail_after(LIMIT):
        await stage.model.stalled.wait()
    began = time.monotonic()
    run.cancel("enough")
    result = await run.result()
    settled = time.monotonic()
    await run.aclose()
    assert (result.stop_reason, result.detail) == ("aborted", "enough")
    gone = time.monotonic() - began
    print(f" settled {(settled - began) * 1000:.1f} ms after the cancel, gone after {gone:.2f} s ")


async def test_it_takes_a_second_prompt_in_the_same_session(stage: Stage) -> None:
    request = stage.request("Please ANSWER.", output_schema=SCHEMA)
    result = await stage.service().run("real", request)
    assert result.completed, result
    assert result.value == {"answer": "42"}
