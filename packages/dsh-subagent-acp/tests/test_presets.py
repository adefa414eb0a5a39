"""The presets, started for what they name: an agent of ours stands under each program's name."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh.subagent import SubagentService
from dsh.subagent_acp import PRESETS, AcpProvider, preset

RAW = Path(__file__).parent / "agents" / "raw.py"

STARTED: dict[str, tuple[str, list[str], str | None, list[str]]] = {
    "codex": ("codex-acp", [], "CODEX_HOME", ["OPENAI_API_KEY", "CODEX_API_KEY"]),
    "claude-code": (
        "claude-code-acp",
        [],
        "CLAUDE_CONFIG_DIR",
        ["ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"],
    ),
    "opencode": ("opencode", ["acp", "--pure"], "OPENCODE_CONFIG_DIR", []),
    "gemini": ("gemini", ["--experimental-acp"], None, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    "deepseek-harness": ("dsh", ["acp"], "DSH_HOME", ["DEEPSEEK_API_KEY"]),
}
"""What each is: its program, its arguments, where it looks for its configuration, its keys."""


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that programs are looked for in first."""
    found = tmp_path / "bin"
    found.mkdir()
    monkeypatch.setenv("PATH", f"{found}{os.pathsep}{os.environ['PATH']}")
    return found


def install(program: Path, arguments: Path, variables: list[str]) -> None:
    """Have *program* write down its arguments and answer with these variables."""
    script = json.dumps({"steps": [{"env": variables}]})
    agent = shlex.join([sys.executable, "-S", "-E", str(RAW), script])
    noting = f'printf \'%s\\n\' "$#" "$@" > {shlex.quote(str(arguments))}'
    program.write_text(f"#!/bin/sh\n{noting}\nexec {agent}\n")
    program.chmod(0o755)


def test_every_preset_is_tried() -> None:
    assert STARTED.keys() == PRESETS.keys()


@pytest.mark.parametrize("name", STARTED)
async def test_a_preset_starts_its_program_with_its_arguments_its_configuration_and_given_keys(
    bench: Any, path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program, arguments, variable, keys = STARTED[name]
    for key in keys:
        monkeypatch.setenv(key, "ambient")
    asked = [*keys, *([variable] if variable else [])]
    install(path / program, bench.folder / "arguments", [*asked, "PATH"])
    given = dict.fromkeys(keys[:1], "given")
    config = preset(name, env=given, config_dir=bench.folder)
    subagents = SubagentService()
    subagents.register(AcpProvider(config))
    result = await subagents.run(name, bench.request())
    assert result.completed, result.detail
    found = json.loads(result.text)
    assert found.pop("PATH").startswith(str(path))
    told = {variable: str(bench.folder)} if variable else {}
    assert found == dict.fromkeys(asked) | given | told
    noted = (bench.folder / "arguments").read_text().splitlines()
    assert noted == [str(len(arguments)), *arguments]


@pytest.mark.parametrize("name", STARTED)
def test_a_preset_names_what_a_person_has_to_see_to(name: str) -> None:
    _, _, variable, keys = STARTED[name]
    known = PRESETS[name]
    assert known.install.startswith(("npm install ", "pip install "))
    assert list(known.credentials) == keys
    assert known.config_dir_variables == ((variable,) if variable else ())
    assert "key" in known.needs
