"""A peer's cases, made of the four operations that its module has.

Each is prepared outside of what is timed: ``parent`` makes a turn that calls the named tool
("delegate" or "trivial"), ``children`` a child whose model waits at a gate, ``structured`` a child
with a schema, ``given`` a child that begins with so many messages. Instead of one there may be the
reason why the peer has no such thing. Where an agent cannot run twice at once but can run again,
``alone`` uses one again and again, as its users do.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeAlias, final

from benchmarks.harness import Case, Sample, Stopwatch, peak_kilobytes
from benchmarks.imports import import_case

__all__ = ["Gate", "ThreadGate", "asyncio_cases", "thread_cases"]

OPERATIONS: Final = 20
GIVEN: Final = 3
LIVE: Final = 100

Prepare: TypeAlias = Callable[[], Callable[[], Any]]


@final
class Gate:
    """Opens when so many wait at it; a closed one holds every child of a fan-out alive."""

    def __init__(self, awaited: int = 1) -> None:
        self._awaited = awaited
        self._open = asyncio.Event()

    async def passes(self) -> None:
        """Wait until it is open, which lets others run in any case."""
        self._awaited -= 1
        if not self._awaited:
            self._open.set()
        await self._open.wait()
        await asyncio.sleep(0)


@final
class ThreadGate:
    """The same for threads."""

    def __init__(self, awaited: int = 1) -> None:
        self._barrier = threading.Barrier(awaited)

    def passes(self) -> None:
        """Wait until it is open."""
        self._barrier.wait()


def asyncio_cases(
    *,
    children: Callable[[Gate], Callable[[], Awaitable[object]]],
    alone: Prepare | None = None,
    **others: Any,
) -> Mapping[str, Case | str]:
    """Of a peer whose operations are awaited; `others` as in the description of this module."""

    def repeat(prepare: Prepare, times: int) -> Sample:
        watch = Stopwatch()

        async def main() -> None:
            operation = prepare()
            with watch:
                for _ in range(times):
                    await operation()

        asyncio.run(main())
        return watch.per(times)

    def together(count: int) -> Sample:
        watch = Stopwatch()

        async def main() -> None:
            child = children(Gate(count))
            with watch:
                await asyncio.gather(*(child() for _ in range(count)))

        asyncio.run(main())
        return watch.per(count)

    return _cases(repeat, together, alone or (lambda: children(Gate())), **others)


def thread_cases(
    *,
    children: Callable[[ThreadGate], Callable[[], object]],
    alone: Prepare | None = None,
    **others: Any,
) -> Mapping[str, Case | str]:
    """Of a peer whose operations block: children that are alive at once have a thread each."""

    def repeat(prepare: Prepare, times: int) -> Sample:
        watch, operation = Stopwatch(), prepare()
        with watch:
            for _ in range(times):
                operation()
        return watch.per(times)

    def together(count: int) -> Sample:
        watch, child = Stopwatch(), children(ThreadGate(count))
        with watch, ThreadPoolExecutor(count) as threads:
            for answered in [threads.submit(child) for _ in range(count)]:
                answered.result()
        return watch.per(count)

    return _cases(repeat, together, alone or (lambda: children(ThreadGate())), **others)


def _cases(
    repeat: Callable[[Prepare, int], Sample],
    together: Callable[[int], Sample],
    alone: Prepare,
    *,
    parent: Callable[[str], Callable[[], Any]],
    structured: Prepare | str,
    given: Callable[[int], Callable[[], Any]] | str,
    imports: tuple[str, ...],
) -> Mapping[str, Case | str]:
    def live_child() -> Sample:
        together(1)  # what is made or imported once is no child's
        with peak_kilobytes(LIVE) as sample:
            together(LIVE)
        return sample

    def past(messages: int) -> Case | str:
        if isinstance(given, str):
            return given
        return partial(repeat, partial(given, messages), GIVEN)

    shaped = structured if isinstance(structured, str) else partial(repeat, structured, OPERATIONS)
    return {
        "delegation": partial(repeat, partial(parent, "delegate"), OPERATIONS),
        "trivial tool": partial(repeat, partial(parent, "trivial"), OPERATIONS),
        "child alone": partial(repeat, alone, OPERATIONS),
        "structured child": shaped,
        **{f"child given {count:,} messages": past(count) for count in (1_000, 10_000)},
        **{f"fan-out of {count:,}": partial(together, count) for count in (100, 1_000, 10_000)},
        "live child": live_child,
        "import": import_case(f"import {', '.join(imports)}"),
    }
