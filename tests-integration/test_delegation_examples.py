"""The examples of delegation, run as a user would."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("delegate", ["There are 3 files."]),
        (
            "fork",
            [
                "after 2 messages: Draft the announcement.",
                "after 2 messages: List the risks.",
            ],
        ),
        (
            "structured",
            [
                "Docs ['They are short.'] structured_output was rejected once before it was valid",
            ],
        ),
    ],
)
def test_an_example_prints_what_came_of_its_children(name: str, lines: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == lines
    assert done.stderr == ""
