"""Children in processes of their own, from the command line."""

import json
import shlex
import sys
from pathlib import Path

from command import Dsh
from fake_endpoint import FakeEndpoint
from openai_wire import answer

from dsh.agent import TextBlock, ToolCallBlock

RAW = Path(__file__).parents[2] / "packages" / "dsh-subagent-acp" / "tests" / "agents" / "raw.py"


def program(at: Path, **behaviour: object) -> str:
    """Write a program that is an agent."""
    words = [sys.executable, str(RAW), json.dumps(behaviour)]
    at.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    at.chmod(0o755)
    return str(at)


def test_an_agent_in_its_own_process_is_a_child_like_any_other(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    agent = program(tmp_path / "agent", steps=[{"text": "from outside"}])
    arguments = json.dumps({"description": "ask outside", "prompt": "Well?"})
    call = ToolCallBlock(id="c", name="subagent", arguments=arguments)
    endpoint.replies = [answer(call, finish="tool_calls"), answer(TextBlock(text="It answered."))]
    logs = str(tmp_path / "logs")
    ended = dsh("run", "Ask.", "--provider", f"acp:{agent}", "--log", logs, "--json")
    (child,) = ended.json["tree"][0]["children"]
    assert (child["provider"], child["stop_reason"]) == (f"acp:{agent}", "completed")
    assert child["text"] == "from outside"
    assert endpoint.requests[1]["messages"][-1]["content"] == "from outside"
    shown = dsh("show", logs)
    assert "└─ ask outside" in shown.out
    assert "from outside" in shown.out


def test_the_agents_that_can_be_named_are_listed_with_what_they_need(dsh: Dsh) -> None:
    out = dsh("providers").out
    assert "acp:codex: " in out
    assert "acp:PROGRAM: any other program" in out
