"""What may be left behind, and the block that says nothing was.

Next: ``_probes.py``, which looks into a host.
"""

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias, final

import trio

from dsh.agent.testing._tasks import BYSTANDER, below, whereabouts

__all__ = ["LeakError", "Probe", "assert_no_leaks"]

Probe: TypeAlias = Callable[[], Iterable[str]]
"""Names everything that something holds right now, one string each; equal names are counted.

A plain function: it is called before and after the watched block, in or out of trio.
"""

# Trio keeps the threads it has used for 10 s; one without work carries the name it was born with.
_IDLE_THREAD: Final = re.compile(r"Trio thread \d+")
_PROC: Final = Path("/proc")


@final
class LeakError(AssertionError):
    """Something outlived the block that should have ended it; ``left`` names each such thing."""

    def __init__(self, left: tuple[str, ...]) -> None:
        super().__init__("left behind: " + "; ".join(left))
        self.left = left


@contextmanager
def assert_no_leaks(*probes: Probe) -> Generator[None]:
    """Prove that whatever the block starts has ended when the block ends, however it ends.

    Watched are threads, child processes (where there is a `/proc`), whatever *probes* name, and,
    where the block runs in trio, its tasks (system tasks too) and the tokens of its default thread
    limiter. What was there when the block began may stay, and may go. Leaving takes no checkpoint:
    nothing gets a chance to end late, so put the end of the block where everything is due to be
    over, before the parent that would clean up is closed.

    Raises:
      LeakError: something is left. An error of the block itself is its ``__context__``.
    """
    before, there = _held(probes), _tasks()
    try:
        yield
    finally:
        left = [*(_held(probes) - before).elements()]
        left += sorted(f"task {whereabouts(task)}" for task in _tasks() - there)
        if left:
            raise LeakError(tuple(left))


def _held(probes: Iterable[Probe]) -> Counter[str]:
    held = Counter(f"process {pid}" for pid in _child_processes())
    for thread in threading.enumerate():
        if not _IDLE_THREAD.fullmatch(thread.name):
            held[f"thread {thread.name!r} ({thread.ident})"] += 1
    if trio.lowlevel.in_trio_run():
        tokens = trio.to_thread.current_default_thread_limiter().borrowed_tokens
        held["token of trio's default thread limiter"] = tokens
    for probe in probes:
        held.update(probe())
    return held


def _tasks() -> set[trio.lowlevel.Task]:
    if not trio.lowlevel.in_trio_run():
        return set()
    root = trio.lowlevel.current_root_task()
    assert root is not None
    return {task for task in below(root) if not task.context.get(BYSTANDER)}


def _child_processes() -> Iterable[int]:
    """Running and unreaped children of this process; nothing where the system cannot say."""
    if not hasattr(os, "waitid") or not _PROC.is_dir():
        return ()
    try:  # one call in the common case of no child at all; WNOWAIT leaves them to their owner
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return ()
    everybody = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    return [pid for pid in everybody if parent_of(pid) == os.getpid()]


def parent_of(pid: int) -> int | None:
    """Whose child *pid* is; ``None`` where it has ended."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it ended while we looked
        return None
    # proc(5): `pid (comm) state ppid ...`; comm may hold anything, so count from its last bracket
    return int(stat.rpartition(")")[2].split()[1])
