"""The example of the tools, run as a user would."""

import subprocess
import sys
from pathlib import Path


def test_the_tools_example_calls_one_is_denied_one_and_misses_one() -> None:
    example = Path(__file__).parents[1] / "examples" / "tools.py"
    done = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    counted, read, denied, hidden = done.stdout.splitlines()
    assert '{"words": 2}' in counted
    assert "buy milk" in read
    assert denied.startswith("DENIED")
    assert "only notes may be read" in denied
    assert hidden.startswith("UNKNOWN_TOOL")
    assert done.stderr == ""
