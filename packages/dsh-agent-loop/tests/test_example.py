"""The example of a host runs."""

import subprocess
import sys
from pathlib import Path


def test_the_example_answers_with_both_of_its_tools() -> None:
    example = Path(__file__).parents[3] / "examples" / "host.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", example], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "tool:  520000",
        "tool:  320000",
        "tool:  840000",
        "model: Together 840000 people live there.",
        "3 requests, 45 tokens",
    ]
