"""The same against an agent on the protocol's own library: the other end is not ours."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import trio

from dsh.agent import Usage
from dsh.subagent import SubagentStartCancelledError, ToolEndedProgress

AGENT = Path(__file__).parent / "agents" / "library.py"


def settings(bench: Any, **switches: Any) -> dict[str, Any]:
    """The library's agent with these switches, which has a second to import itself."""
    told = json.dumps({"ready": str(bench.ready)} | switches)
    return {"command": sys.executable, "args": (str(AGENT), told), "eof_grace": 10}


@pytest.mark.guarantee("B-ACP-17", "B-ACP-07")
async def test_it_answers_after_thoughts_and_a_tool(bench: Any) -> None:
    """A real agent process on another implementation of the protocol thinks, uses a tool, counts
    its tokens and answers."""
    result = await bench.run(**settings(bench, thoughts=True, tool=True, usage=True))
    assert (result.stop_reason, result.text) == ("completed", "hello from the library")
    assert result.usage == Usage(
        input_tokens=7, output_tokens=5, cache_read_tokens=2, reasoning_tokens=1
    )
    assert result.tool_calls == 1
    assert bench.parent.heard(ToolEndedProgress)[0].name == "Run it"


@pytest.mark.guarantee("B-ACP-17", "B-ACP-09")
@pytest.mark.parametrize(
    ("permission", "kinds", "chosen"),
    [
        ("reject", ["allow_once", "reject_once"], "x-reject_once"),
        ("allow", ["reject_once"], "cancelled"),
    ],
)
async def test_it_is_given_what_the_policy_says(
    bench: Any, permission: str, kinds: list[str], chosen: str
) -> None:
    """An agent that asks for permission, with or without options that allow, gets its answer."""
    told = settings(bench, ask=kinds, text=[])
    result = await bench.run(permission=permission, **told)
    assert result.text.strip() == f"[{chosen}]"


@pytest.mark.guarantee("B-ACP-17")
async def test_its_stop_reason_is_told(bench: Any) -> None:
    """An agent's own stop reason reaches the result."""
    assert (await bench.run(**settings(bench, stop_reason="refusal"))).stop_reason == "refusal"


@pytest.mark.guarantee("B-ACP-17", "B-ACP-10")
@pytest.mark.parametrize("switches", [{}, {"crash_on": "cancel"}])
async def test_it_is_cancelled_in_its_turn(bench: Any, switches: dict[str, Any]) -> None:
    """Whether an agent obeys a cancel or dies of it, the run is aborted at once with the text so
    far."""
    async with await bench.start(**settings(bench, hang=True, **switches)) as run:
        await bench.works()
        await bench.works()
        run.cancel("enough")
        result = await run.result()
    assert result.stop_reason == "aborted"
    assert "hello from the library".startswith(result.text)
    assert not bench.children()


@pytest.mark.guarantee("B-ACP-17", "B-ACP-12")
async def test_it_crashes_in_its_turn(bench: Any) -> None:
    """An agent that dies of its prompt is an error that names its status."""
    result = await bench.run(**settings(bench, crash_on="prompt"))
    assert (result.stop_reason, result.detail) == ("error", "the agent exited with status 9")


@pytest.mark.guarantee("B-ACP-17", "B-ACP-05")
async def test_it_is_cancelled_before_it_has_a_session(bench: Any) -> None:
    """A start cancelled while the agent holds back its session leaves nothing."""
    gate = bench.folder / "gate"
    os.mkfifo(gate)
    told = settings(bench, gate=str(gate)) | {"eof_grace": 0.3}
    request, service = bench.request(), bench.service(**told)
    async with trio.open_nursery() as nursery:

        async def cancel() -> None:
            await bench.works()
            request.cancel_scope.cancel()

        nursery.start_soon(cancel)
        with pytest.raises(SubagentStartCancelledError):
            await service.start("acp", request)
    assert not bench.children()


@pytest.mark.guarantee("B-ACP-17", "B-PROC-06")
async def test_it_flushes_after_the_end_of_its_input(bench: Any) -> None:
    """An agent that takes its time after the end of its input is let finish, without a signal."""
    eof, term = bench.folder / "eof", bench.folder / "term"
    switches = {"eof_marker": str(eof), "eof_delay": 0.3, "term_marker": str(term)}
    assert (await bench.run(**settings(bench, **switches))).completed
    assert eof.exists()
    assert not term.exists()


@pytest.mark.guarantee("B-ACP-17", "B-PROC-07")
@pytest.mark.parametrize("trapping", [False, True])
async def test_it_is_ended_though_it_ignores_the_end_of_its_input(
    bench: Any, trapping: bool
) -> None:
    """An agent that stays after the end of its input gets SIGTERM, and is killed if it traps it."""
    term = bench.folder / "term"
    switches = {"ignore_eof": True, "ignore_term": trapping, "term_marker": str(term)}
    told = settings(bench, **switches) | {"eof_grace": 0.5, "term_grace": 0.5}
    assert (await bench.run(**told)).completed
    assert term.exists()
    assert not bench.children()
