"""The example of a child over ACP, run as a user would."""

import subprocess
import sys
from pathlib import Path


def test_the_example_asks_approves_and_answers() -> None:
    example = Path(__file__).parents[1] / "examples" / "acp_child.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "  PermissionProgress Read README.md",
        "  TextProgress",
        "completed: It delegates; reading was selected.",
    ]
    assert done.stderr == ""
