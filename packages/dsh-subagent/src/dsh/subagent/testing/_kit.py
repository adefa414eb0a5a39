"""The contract of a backend as a test: `check_provider` goes through it clause by clause."""

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final, TypeAlias, cast, final

import trio

from dsh.agent import unwrapped
from dsh.agent.testing import HangError, ends_within
from dsh.subagent._errors import described
from dsh.subagent._provider import SubagentProvider
from dsh.subagent.testing._bench import Bench, BreachError
from dsh.subagent.testing._clauses_cancel import CANCEL_CLAUSES
from dsh.subagent.testing._clauses_close import CLOSE_CLAUSES
from dsh.subagent.testing._clauses_run import RUN_CLAUSES
from dsh.subagent.testing._clauses_start import START_CLAUSES
from dsh.subagent.testing._drive import Drive

__all__ = ["CLAUSES", "ContractError", "ProviderSource", "check_provider"]

ProviderSource: TypeAlias = Callable[
    [], SubagentProvider | AbstractAsyncContextManager[SubagentProvider]
]
"""Makes a fresh backend, or a context manager that holds one with whatever it lives in."""

_CLAUSES: Final[dict[str, Callable[[Bench], Awaitable[None]]]] = {
    clause.__name__: clause
    for clause in (*CANCEL_CLAUSES, *START_CLAUSES, *RUN_CLAUSES, *CLOSE_CLAUSES)
}

CLAUSES: Final = tuple(_CLAUSES)
"""The names of all clauses, to parametrize a test with."""


@final
class ContractError(AssertionError):
    """A backend breaks a ``clause`` of the contract; the message says how."""

    def __init__(self, clause: str, problem: str) -> None:
        rule = (_CLAUSES[clause].__doc__ or "").partition("\n")[0]
        super().__init__(f"clause {clause!r}: {problem}\n  the rule: {rule}")
        self.clause = clause


async def check_provider(
    factory: ProviderSource,
    drive: Drive,
    *,
    clauses: Collection[str] = CLAUSES,
    limit: float = 10,
) -> None:
    """Hold a backend to every clause of `SubagentProvider.serve`, each on a fresh one.

    Works on trio's own clock, which a backend with threads or processes needs, and on a virtual
    one, whichever the test has. A clause that is not over after *limit* seconds of that clock is
    ended, shields and all, and fails by name: nothing hangs. The kit needs nobody else's tasks to
    be still.

    Of what a backend declares it checks that a depth limit is kept and that the other fields are
    taken; what comes of an ``output_schema`` and of what a child says, where the drive has
    `Drive.structured` and `Drive.said`; what comes of ``tool_filter`` and ``persona``, never.

    Args:
      factory: Called once for each clause.
      drive: Makes the children of that backend behave, and says whether they run.
      clauses: Which to check; `CLAUSES` has the names.
      limit: Seconds for each clause. A backend with processes needs those of a real clock.

    Raises:
      ContractError: The first clause that does not hold; its ``__cause__`` is what went wrong.
      ValueError: There is no clause of such a name; none was checked.
    """
    if unknown := set(clauses) - set(CLAUSES):
        raise ValueError(f"no clause is named {', '.join(sorted(unknown))}; CLAUSES has the names")
    for clause in clauses:
        try:
            await ends_within(limit, partial(_check, clause, factory, drive))
        except HangError as exc:
            raise ContractError(clause, f"it hangs; {exc}") from exc
        except Exception as exc:  # a clause that raised is a finding
            raise ContractError(clause, _problem(exc)) from exc


def _problem(error: BaseException) -> str:
    """Say what a clause found, out of the groups of the nurseries around it."""
    bare = unwrapped(error)
    if isinstance(bare, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", bare)
        bare = unwrapped(group.subgroup(BreachError) or group)
    return str(bare) if isinstance(bare, BreachError) else described(bare)


async def _check(clause: str, factory: ProviderSource, drive: Drive) -> None:
    made = factory()
    if isinstance(made, AbstractAsyncContextManager):
        async with made as provider:
            await _check_one(clause, provider, drive)
    else:
        await _check_one(clause, made, drive)


async def _check_one(clause: str, provider: SubagentProvider, drive: Drive) -> None:
    bench = Bench(provider, drive)
    async with trio.open_nursery() as nursery:
        await nursery.start(bench.hold_parent)
        await _CLAUSES[clause](bench)
        await bench.end_parent()
