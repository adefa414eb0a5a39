"""`dsh run` cancelled, or interrupted by Ctrl-C, at each of its scheduler steps."""

import json
import signal
from itertools import count
from pathlib import Path

import pytest
from fake_endpoint import Body, Reply, fake_endpoint
from openai_wire import KEY, answer, refuse

from dsh.agent import TextBlock, ToolCallBlock
from dsh.agent.testing import SweepStage, sweep
from dsh.cli import main
from dsh.cli._asking import Asking
from dsh.cli._composition import Parts
from dsh.cli._model_choice import ModelChoice
from dsh.cli._provider_choice import choose_provider
from dsh.cli._running import ask
from dsh.tool_subagent import SubagentToolConfig


async def delegating(body: Body) -> Reply:
    last = body["messages"][-1]
    if last["role"] == "user" and last["content"] == "Go.":
        arguments = json.dumps({"description": "part", "prompt": "Do it."})
        call = ToolCallBlock(id="c", name="subagent", arguments=arguments)
        return answer(call, finish="tool_calls")
    return answer(TextBlock(text="done"))


def parts(url: str, log: Path) -> Parts:
    settings = {"base_url": url, "api_key": KEY}
    return Parts(
        model=ModelChoice(plugin="openai", name="m", settings=settings, shown="m"),
        providers=(choose_provider("spawn"),),
        delegation=(SubagentToolConfig(provider="spawn"),),
        log=log,
    )


def press_ctrl_c() -> None:
    """What a person does; before and after the run it would mean something else."""
    handler = signal.getsignal(signal.SIGINT)
    if getattr(handler, "__module__", "") == "dsh.cli._interruption":
        signal.raise_signal(signal.SIGINT)


@pytest.mark.sweep
def test_a_run_cancelled_at_any_step_leaves_nothing_behind_and_legal_logs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = count()

    async def a_run(stage: SweepStage) -> None:
        log = tmp_path / str(next(numbers))
        async with fake_endpoint(refuse) as endpoint:
            endpoint.answer = delegating
            with stage.scope("command"), stage.route("ctrl-c", press_ctrl_c):
                assert await ask(parts(endpoint.url, log), Asking(prompt="Go.")) in (0, 130)
            with stage.settled():
                await endpoint.idle.wait()
                if list(log.glob("*.jsonl")):
                    assert main(["check", str(log)]) == 0

    report = sweep(a_run, seeds=(0,), sides=("before",))
    capsys.readouterr()
    print(report)
    report.check()
