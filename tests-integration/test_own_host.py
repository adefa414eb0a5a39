"""A stranger's host, with the seam and nothing else of the family."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gates.workspace import members
from shipping.order import dependencies
from shipping.workshop import Workshop, find_uv

ROOT: Final = Path(__file__).parents[1]
EXAMPLE: Final = ROOT / "examples" / "own_host.py"
WORKSPACE: Final = {member.name: member for member in members(ROOT)}
EVENTS: Final = "  RunStarted\n  RunEnded\n"
EXPECTED: Final = (
    f"{EVENTS}echo done: completed 'done'\n"
    f"{EVENTS}echo half; exit 1: error 'half'\n"
    f"{EVENTS}exec sleep 60: timeout ''\n"
)
HIDDEN: Final = """
import runpy, sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.startswith("dsh.") and name.split(".")[1] not in sys.argv[2:]:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)

sys.meta_path.insert(0, Hidden())
runpy.run_path(sys.argv[1], run_name="__main__")
"""


def output_of(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_example_is_short_and_brings_its_own_loop() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert "agent_loop" not in text


def test_the_example_needs_no_member_beyond_what_the_seam_declares(tmp_path: Path) -> None:
    names = dependencies(WORKSPACE["dsh-subagent"], WORKSPACE)
    assert names == ["dsh-subagent", "dsh-agent", "dsh-tools-jsonschema"]
    modules = [WORKSPACE[name].module.removeprefix("dsh.") for name in names]
    command = (sys.executable, "-W", "error", "-c", HIDDEN, str(EXAMPLE), *modules)
    assert output_of(*command, cwd=tmp_path) == EXPECTED


@pytest.mark.wheels
def test_the_example_runs_where_only_the_wheel_of_the_seam_is_installed(tmp_path: Path) -> None:
    workshop = Workshop(uv=find_uv(), folder=tmp_path, workspace=WORKSPACE)
    workshop.prepare()
    assert workshop.verify(WORKSPACE["dsh-subagent"]) == ""
    python = tmp_path / "dsh-subagent" / "bin" / "python"
    assert output_of(str(python), "-W", "error", str(EXAMPLE), cwd=tmp_path) == EXPECTED
