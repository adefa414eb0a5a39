"""Ctrl-C: real signals at random moments of a busy host."""

import subprocess
import sys
from pathlib import Path


def test_an_interrupt_at_any_moment_comes_bare_and_leaves_balanced_logs() -> None:
    program = Path(__file__).parent / "interrupted_host.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", program, "100", "0"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("100 interrupts\n", "")
