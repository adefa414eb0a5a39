"""Trio's tasks as a tree, and where each of them waits."""

from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Final

import trio

__all__ = ["BYSTANDER", "TRIO", "below", "whereabouts"]

TRIO: Final = str(Path(trio.__file__).parent)
"""Where trio's own frames come from."""


BYSTANDER: Final[ContextVar[bool]] = ContextVar("dsh_bystander", default=False)
"""Set in tasks that a check for leaks is not about: those of a sweep itself."""


def below(task: trio.lowlevel.Task) -> Iterator[trio.lowlevel.Task]:
    """*task* and every task in its nurseries, at any depth."""
    pending = [task]
    while pending:
        task = pending.pop()
        yield task
        for nursery in task.child_nurseries:
            pending += nursery.child_tasks


def whereabouts(task: trio.lowlevel.Task) -> str:
    """Say what *task* waits in: its name, the innermost line that is not trio's, the call there."""
    frames = [(frame.f_code, line) for frame, line in task.iter_await_frames()]
    if not frames:
        return f"{task.name} (ended)"
    own = [entry for entry in frames if not entry[0].co_filename.startswith(TRIO)]
    code, line = (own or frames)[-1]
    where = f"{Path(code.co_filename).name}:{line} in {code.co_name}"
    innermost = frames[-1][0]
    waiting = next(
        (c.co_qualname for c, _ in frames[frames.index((code, line)) + 1 :]), innermost.co_qualname
    )
    return f"{task.name} at {where}" + (
        f", waiting in {waiting}" if waiting != code.co_qualname else ""
    )
