"""Cases for the tests of the benchmarks: they cost what they say, fail, chatter, hang or exit."""

import os
import signal
from collections.abc import Mapping

from benchmarks.harness import Case, Sample

__all__ = ["CASES"]


def _costs(seconds: float) -> Case:
    return lambda: {"cpu": seconds, "wall": seconds}


def _chatters() -> Sample:
    print("chatter")
    return {"cpu": 2.0, "wall": 3.0}


def _fails() -> Sample:
    raise ValueError("no such model")


def _hangs() -> Sample:
    signal.pause()
    return {}


def _exits() -> Sample:
    os.write(2, b"first\nlast words\n")
    os._exit(3)


def _bytecode() -> Sample:
    return {"off": float("PYTHONDONTWRITEBYTECODE" in os.environ)}


CASES: Mapping[str, Case | str] = {
    "cheap": _costs(1.0),
    "chatters": _chatters,
    "fails": _fails,
    "hangs": _hangs,
    "exits": _exits,
    "bytecode": _bytecode,
    "has not": "has no schema",
}
