"""Ctrl-C, once and twice."""

import signal
import subprocess
import sys

PROGRAM = """
import trio
from dsh.cli._interruption import interruptible

async def main():
    with interruptible(lambda: print("cancelled", flush=True)):
        print("ready", flush=True)
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()

trio.run(main)
"""


def test_the_first_ctrl_c_cancels_and_the_second_ends_what_does_not_end() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in (b"ready\n", b"cancelled\n"):
            assert process.stdout.readline() == line
            process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
