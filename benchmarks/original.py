"""The original system at the same kind of endpoint: many delegations in one turn of its agent.

It is a program that is driven over the Agent Client Protocol. Its plugins are those that a
delegation takes, without logs on disk; its CPU time is that of its process.
"""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.environments import environment
from benchmarks.groups import THE_ORIGINAL
from benchmarks.harness import Case, Sample
from benchmarks.http_endpoint import endpoint
from benchmarks.worker import NotMeasured

__all__ = ["CASES"]

DELEGATIONS: Final = 50
_PROGRAM: Final = "deepseek_harness_runtime/runtime/dsh-jsonrpc-agent-pkg-*-*[0-9]"
_MODEL: Final = {"provider": "deepseek-official", "model": "deepseek-v4-flash"}
_PLUGINS: Final[Mapping[str, Mapping[str, object]]] = {
    "agent-spine-demo": {
        "workspaceContext": False,
        "toolBash": False,
        "toolJobs": False,
        "skills": {"enabled": False},
    },
    "llm-deepseek": {},
    "subagent": {},
    "subagent-spawn-in-process": {},
    "tool-subagent": {"provider": "spawn", "maxDepth": 1, "enableRunInBackground": False},
    "acp": _MODEL,
}


class _Agent:
    """The running program."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._requests = 0

    def call(self, method: str, **params: object) -> Any:
        """Wait for the answer to one request, and skip what it tells meanwhile."""
        self._requests += 1
        request = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        for line in stdout:
            answer = json.loads(line)
            if answer.get("id") == self._requests:
                assert "result" in answer, answer
                return answer["result"]
        raise AssertionError(f"it ended before it answered {method}")

    def turn(self, delegations: int, home: str) -> None:
        """A new session delegates that often."""
        session = self.call("session/new", cwd=home, mcpServers=[])["sessionId"]
        prompt = [{"type": "text", "text": f"delegate {delegations}"}]
        ended = self.call("session/prompt", sessionId=session, prompt=prompt)
        assert ended["stopReason"] == "end_turn", ended

    def cpu_seconds(self) -> float:
        """What it has used, in user and kernel mode, threads included."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _program() -> Path:
    python = environment(THE_ORIGINAL.distribution, THE_ORIGINAL.version)
    found = sorted((python.parent.parent / "lib").glob(f"python*/site-packages/{_PROGRAM}"))
    if not found:
        raise NotMeasured(f"{THE_ORIGINAL.distribution} has no program for this machine")
    return found[0]


def _delegations(program: Path) -> Sample:
    with tempfile.TemporaryDirectory() as home, endpoint() as url:
        plugins = [
            {"id": name, "name": f"@deepseek-ai/dsh-{name}", "config": config}
            for name, config in _PLUGINS.items()
        ]
        config = Path(home, "plugins.yml")
        config.write_text(json.dumps(plugins))  # JSON is YAML
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "TMPDIR": home,
            "DEEPSEEK_BASE_URL": url,
            "DEEPSEEK_API_KEY": "not-a-key",
        }
        with subprocess.Popen(
            [str(program), str(config)],
            env=variables,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                return _timed(_Agent(process), home)
            finally:
                process.kill()


def _timed(agent: _Agent, home: str) -> Sample:
    agent.call("initialize", protocolVersion=1, clientCapabilities={})
    agent.turn(5, home)  # warm, and its code compiled
    wall, cpu = time.perf_counter(), agent.cpu_seconds()
    agent.turn(DELEGATIONS, home)
    return {
        "cpu": (agent.cpu_seconds() - cpu) / DELEGATIONS,
        "wall": (time.perf_counter() - wall) / DELEGATIONS,
    }


def _case() -> Case | str:
    try:
        program = _program()
    except NotMeasured as error:
        return str(error)
    return lambda: _delegations(program)


CASES: Mapping[str, Case | str] = {"HTTP delegation, of 50 in a turn": _case()}
