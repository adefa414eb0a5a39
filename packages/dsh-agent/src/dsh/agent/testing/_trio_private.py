"""Everything the sweep needs of trio that trio does not promise, in one place.

Each function says what it relies on and checks that it is there; a trio without it is refused with
its version and the name that is missing. Tried with trio 0.31 to 0.35.
"""

import random
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import cast

import trio

__all__ = ["deterministic", "enclosing_scopes", "throw_at_next_step"]

_run = import_module("trio._core._run")
_SWITCH = "_ALLOW_DETERMINISTIC_SCHEDULING"


def _need(owner: object, name: str) -> object:
    found = getattr(owner, name, None)
    if found is None:
        raise RuntimeError(
            f"trio {trio.__version__} has no {name!r} in {owner!r}; "
            "the cancellation sweep was written for trio 0.31 to 0.35"
        )
    return found


@contextmanager
def deterministic(seed: int) -> Generator[None]:
    """Have trio schedule by *seed* inside the block, as hypothesis and pytest-trio have it.

    Relies on the switch ``trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING``, which sorts each batch
    of runnable tasks before shuffling it, and on ``trio._core._run._r``, the generator that
    shuffles. Both are put back.
    """
    before = _need(_run, _SWITCH)
    shuffler = _need(_run, "_r")
    if not isinstance(shuffler, random.Random):
        raise TypeError(f"trio {trio.__version__} does not shuffle with a random.Random any more")
    state = shuffler.getstate()
    setattr(_run, _SWITCH, True)
    shuffler.seed(seed)
    try:
        yield
    finally:
        setattr(_run, _SWITCH, before)
        shuffler.setstate(state)


def enclosing_scopes(task: trio.lowlevel.Task) -> Iterator[trio.CancelScope]:
    """Every cancel scope around what *task* is doing, innermost first.

    Relies on ``Task._cancel_status`` and its ``_scope`` and ``_parent``; trio shows the scopes of
    nurseries only.
    """
    status: object = _need(task, "_cancel_status")
    while status is not None:
        yield cast(trio.CancelScope, _need(status, "_scope"))
        status = getattr(status, "_parent", None)


def throw_at_next_step(task: trio.lowlevel.Task, error: BaseException) -> None:
    """Make the step that *task* is about to take raise *error*; ends what no cancel can end.

    Only for ``before_task_step`` of an instrument. Relies on ``Task._next_send_fn`` and
    ``Task._next_send``, which trio reads right after that callback.
    """
    _need(task, "_next_send_fn")
    setattr(task, "_next_send_fn", task.coro.throw)  # noqa: B010 - private, named above
    setattr(task, "_next_send", error)  # noqa: B010 - private, named above
