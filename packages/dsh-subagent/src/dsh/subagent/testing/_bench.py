"""What a clause of the contract works with: a backend between two observers, and a parent.

Next: `_clauses_cancel.py`, the first of the clauses.
"""

from typing import Any, NoReturn, TypeVar, cast, final

import trio

from dsh.subagent._events import RunEnded, RunStarted
from dsh.subagent._provider import SubagentProvider
from dsh.subagent._request import SubagentStartRequest
from dsh.subagent._run import SubagentRun
from dsh.subagent._service import SubagentService
from dsh.subagent.testing._drive import Behaviour, Drive
from dsh.subagent.testing._probe import Listening, Probe

__all__ = ["Bench", "BreachError", "InjectedError", "mentions"]

E = TypeVar("E", bound=BaseException)


class BreachError(AssertionError):
    """A clause does not hold; the kit adds which."""


class InjectedError(Exception):
    """What the kit raises inside a backend, to see what becomes of it."""


@final
class Bench:
    """One backend, one parent, one clause."""

    def __init__(self, provider: SubagentProvider, drive: Drive) -> None:
        self.service = SubagentService()
        self.probe = Probe(provider)
        self.service.register(self.probe)
        self.drive = drive
        self.above = trio.CancelScope()
        """Around the parent: cancelling it is a cancellation from above."""
        self.parent_error: BaseException | None = None
        """What left the parent's nursery."""
        self._release = trio.Event()
        self._ended = trio.Event()
        self._parent: Listening | None = None
        self._before = (0, 0)

    @property
    def parent(self) -> Any:
        """The overheard parent; `Any`, since what a backend reads of it is the backend's."""
        assert self._parent is not None
        return self._parent

    async def hold_parent(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Keep a parent until `end_parent`, in a task of its own."""
        try:
            with self.above:
                async with self.drive.parent() as parent:
                    self._parent = Listening(parent)
                    self._before = self.drive.running(), self.drive.worked()
                    task_status.started()
                    await self._release.wait()
        except (Exception, KeyboardInterrupt) as exc:  # noqa: BLE001 - what left it is the finding
            self.parent_error = exc
        except BaseExceptionGroup as exc:
            if exc.split(trio.Cancelled)[0] is not None:
                raise
            self.parent_error = exc
        finally:
            self._ended.set()

    async def end_parent(self) -> None:
        """Leave the parent's block and wait until it has ended."""
        self._release.set()
        await self._ended.wait()

    def request(
        self, behaviour: Behaviour = Behaviour.ANSWER, **fields: Any
    ) -> SubagentStartRequest[Any]:
        """A request whose child behaves so."""
        given: dict[str, Any] = {"prompt": self.drive.prompt(behaviour), "parent": self.parent}
        return SubagentStartRequest(**(given | fields))

    async def start(
        self, behaviour: Behaviour = Behaviour.ANSWER, **fields: Any
    ) -> SubagentRun[Any]:
        """Start a child that behaves so."""
        return await self.service.start(self.probe.name, self.request(behaviour, **fields))

    async def refused(self, request: SubagentStartRequest[Any], *kinds: type[E]) -> E:
        """Start *request*, which must fail with one of these, and return the error."""
        try:
            run = await self.service.start(self.probe.name, request)
        except kinds as exc:
            return exc
        await run.aclose()
        expected = " or ".join(kind.__name__ for kind in kinds)
        raise BreachError(f"start returned a run; {expected} was due")

    @property
    def lifecycle(self) -> list[str]:
        """``start`` and ``end`` events with their child, in the order they were told."""
        return [
            f"{'start' if isinstance(event, RunStarted) else 'end'} {event.child_id}"
            for event in self.parent.events
            if isinstance(event, RunStarted | RunEnded)
        ]

    def expect(self, holds: object, otherwise: str) -> None:
        """Fail the clause unless *holds*."""
        if not holds:
            raise BreachError(otherwise)

    def nothing_runs(self, when: str) -> None:
        """Nothing of any child is left."""
        children = self.drive.running() - self._before[0]
        self.expect(children == 0, f"children still run {when}: {children}")
        self.expect(self.probe.serving == 0, f"serve has not ended {when}")
        self.expect(self.parent.adopted == 0, f"a scope is still adopted {when}")

    def nothing_happened(self, when: str) -> None:
        """Nothing was published, nothing is left, and no child has acted."""
        self.nothing_runs(when)
        self.expect(not self.parent.events, f"events were told {when}: {self.parent.events}")
        self.expect(self.drive.worked() == self._before[1], f"a child worked on its prompt {when}")
        self.expect(not self.probe.tried_again, f"publish was called again {when}")

    def has_worked(self) -> bool:
        """Whether any child of this clause has begun to work, as far as that can be seen."""
        return self.drive.worked() != self._before[1]

    def breach(self, what: str) -> NoReturn:
        """Fail the clause."""
        raise BreachError(what)


def mentions(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Whether *error* is of that kind, holds one, or comes from one."""
    if error is None or isinstance(error, kind):
        return error is not None
    group = cast("BaseExceptionGroup[BaseException]", error)
    members = group.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return any(mentions(each, kind) for each in (*members, error.__cause__))
