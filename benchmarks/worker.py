"""A process that measures: started for a subject and a group, asked case by case, ended."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast, final

from benchmarks.harness import Sample

__all__ = ["ROOT", "NotMeasured", "Worker", "clean_environment"]

ROOT: Final = Path(__file__).resolve().parent.parent
START_SECONDS: Final = 60.0
END_SECONDS: Final = 5.0


class NotMeasured(Exception):  # noqa: N818 - an outcome of a case, said in the table
    """Why there is no figure."""


def clean_environment() -> dict[str, str]:
    """This process's variables, without those that change how another Python runs."""
    ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if name not in ours}


@final
class Worker:
    """A running ``benchmarks.measure``; ``close`` it, which ends it and what it started.

    Raises ``NotMeasured`` when the module cannot be imported.
    """

    def __init__(self, python: Path, module: str, *, variables: Mapping[str, str]) -> None:
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `close`
        self._unread = b""
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.measure", module],
            cwd=ROOT,
            env={**clean_environment(), **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            start_new_session=True,
        )
        try:
            self.cases: Mapping[str, str | None] = self._answer(START_SECONDS)["cases"]
        except BaseException:  # closed, and passed on
            self.close()
            raise

    def ask(self, case: str, *, seconds: float) -> Sample:
        """Measure once. Raises ``NotMeasured``; after one for the time or an end, `ended` holds."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{case}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise NotMeasured(self._last_words()) from None
        answer = self._answer(seconds)
        if "failed" in answer:
            raise NotMeasured(f"fails: {answer['failed']}")
        return cast(Sample, answer["sample"])

    @property
    def ended(self) -> bool:
        """Whether it answers no more."""
        return self._process.poll() is not None

    def close(self) -> None:
        """End it, and whatever it left behind in its process group."""
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._kill()
        self._said.close()

    def _answer(self, seconds: float) -> dict[str, Any]:
        line = self._line(time.monotonic() + seconds)
        if line is None:
            self._kill()
            raise NotMeasured(f"over {seconds:g} s")
        if not line:
            self._process.wait(END_SECONDS)
            raise NotMeasured(self._last_words())
        return cast("dict[str, Any]", json.loads(line))

    def _line(self, deadline: float) -> bytes | None:
        """The next line, empty at the end of the output, or ``None`` when it does not come."""
        assert self._process.stdout is not None
        pipe = self._process.stdout.fileno()
        while b"\n" not in self._unread:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([pipe], [], [], left)[0]:
                return None
            data = os.read(pipe, 65536)
            if not data:
                return b""
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _last_words(self) -> str:
        self._said.seek(0)
        said = self._said.read().strip().splitlines()
        return f"fails: {said[-1] if said else f'exit status {self._process.returncode}'}"
