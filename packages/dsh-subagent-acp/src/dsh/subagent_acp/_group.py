"""A process group: signal all of it, and know when all of it is gone.

Only the leader is our child; whoever it has started is reaped by others, or by nobody where the
first process of a container does not reap. So what counts as gone is what can no longer run: a
zombie is.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

__all__ = ["is_group_alive", "signal_group", "wait_ended", "wait_group_gone"]

_PROC: Final = Path("/proc")
_LINUX: Final = hasattr(os, "pidfd_open") and (_PROC / "self" / "stat").exists()
_AGAIN: Final = 0.02
"""Seconds between two looks, on systems that cannot tell of the end of a foreign process."""


def signal_group(group: int, signal: int) -> None:
    """Send *signal* to every process of the group; none left is fine."""
    with suppress(ProcessLookupError, PermissionError):  # see `is_group_alive`
        os.killpg(group, signal)


def is_group_alive(group: int) -> bool:
    """Whether any process of the group can still run."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # macOS: a group of zombies; Linux: one of another user's processes
        return bool(_members(group))
    return bool(_members(group)) if _LINUX else True


async def wait_group_gone(group: int) -> None:
    """Wait until no process of the group can run any more."""
    while is_group_alive(group):
        if not _LINUX:
            await trio.sleep(_AGAIN)
        for pid in _members(group):
            await wait_ended(pid)


async def wait_ended(pid: int) -> None:
    """Wait until that process, of whoever it is a child, can run no more."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        await trio.lowlevel.wait_readable(descriptor)
    finally:
        os.close(descriptor)


def _members(group: int) -> list[int]:
    if not _LINUX:
        return []
    everybody = (int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit())
    return [pid for pid in everybody if _is_member(pid, group)]


def _is_member(pid: int, group: int) -> bool:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # pragma: no cover - only where a process ends while we look
        return False
    # proc(5): `pid (comm) state ppid pgrp ...`; comm may hold anything, so count from its end
    state, _, pgrp = stat.rpartition(")")[2].split()[:3]
    return int(pgrp) == group and state not in "ZX"
