"""Ctrl-C at random moments and SIGTERM in the middle, in processes of their own."""

import json
import os
import random
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest
from command import COMMAND, environment
from fake_endpoint import Body, FakeEndpoint, Reply
from openai_wire import answer, begun

from dsh.agent import TextBlock, ToolCallBlock
from dsh.cli import main

LATEST = 3.0
"""Seconds after its start at which a run is interrupted at the latest."""

ENDS = (0, 130, -signal.SIGINT)
"""Completed before, interrupted, or interrupted before Python had started the command."""


def is_interrupted_start(status: int, said: str) -> bool:
    """Whether Python itself was interrupted while it was importing what it needs to start."""
    return status == 1 and "KeyboardInterrupt" in said and "dsh" not in said


@pytest.fixture(autouse=True)
def _interruptible() -> Generator[None]:
    """Let Ctrl-C interrupt what is started here, though a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


async def slowly(body: Body) -> Reply:
    """The parent delegates twice at once; one child answers, the other never ends its answer."""
    last = body["messages"][-1]
    if last["role"] == "user" and last["content"] == "Go.":
        asked = [json.dumps({"description": p, "prompt": p}) for p in ("quick", "slow")]
        calls = [
            ToolCallBlock(id=f"c{n}", name="subagent", arguments=a) for n, a in enumerate(asked)
        ]
        return answer(*calls, finish="tool_calls")
    if last["content"] == "slow":
        return Reply(chunks=begun("Once upon"), end="stall")
    return answer(TextBlock(text="done"))


# One in the middle of an answer, and two while the command starts; the others with `-m sweep`.
SEEDS = (0, 1, 3, *(pytest.param(seed, marks=pytest.mark.sweep) for seed in (2, *range(4, 20))))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_interrupted_run_leaves_no_process_and_only_legal_logs(
    seed: int, endpoint: FakeEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.answer = slowly
    arguments = ("run", "Go.", "--log", str(tmp_path))
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment(endpoint.url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        process.wait(random.Random(seed).uniform(0.1, LATEST))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode in ENDS or is_interrupted_start(process.returncode, said), said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    if list(tmp_path.glob("*.jsonl")):
        assert main(["check", str(tmp_path)]) == 0, capsys.readouterr().out


def test_what_was_said_before_ctrl_c_is_kept(endpoint: FakeEndpoint, tmp_path: Path) -> None:
    endpoint.answer = slowly
    process = subprocess.Popen(
        [*COMMAND, "run", "Go.", "--json", "--log", str(tmp_path)],
        env=environment(endpoint.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "quick [spawn]: completed" not in process.stderr.readline():
        pass
    while endpoint.open_requests != 1 or not endpoint.stalled.is_set():
        process.poll()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    (root,) = json.loads(out)["tree"]
    ends = {child["label"]: (child["stop_reason"], child["text"]) for child in root["children"]}
    assert ends["quick"] == ("completed", "done")
    assert ends["slow"][0] == "aborted"
    assert "dsh: cancelled: Go.; slow" in err


def test_sigterm_ends_a_run_in_good_order_with_its_own_status(
    endpoint: FakeEndpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What stops a container or a job leaves no child behind, and the logs say who was cut off."""
    started: list[subprocess.Popen[str]] = []

    async def ended_from_outside(body: Body) -> Reply:
        if body["messages"][-1]["content"] == "slow":
            started[0].send_signal(signal.SIGTERM)
        return await slowly(body)

    endpoint.answer = ended_from_outside
    with subprocess.Popen(
        [*COMMAND, "run", "Go.", "--log", str(tmp_path)],
        env=environment(endpoint.url),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        started.append(process)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "")
    assert "dsh: aborted: interrupted by SIGTERM" in said
    assert "\ndsh: cancelled: " in said
    assert "slow [spawn]: aborted" in said
    assert main(["check", str(tmp_path)]) == 0, capsys.readouterr().out
