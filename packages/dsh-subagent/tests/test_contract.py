"""The conformance kit: the scripted provider passes, broken ones fail by the clause they break."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio

from dsh.agent import AgentId, TextBlock
from dsh.subagent import (
    DelegatingParent,
    Publish,
    ResolvedRequest,
    SubagentDepthError,
    SubagentResult,
    SubagentStartCancelledError,
    TextProgress,
)
from dsh.subagent.testing import (
    CLAUSES,
    EVERYTHING,
    Act,
    Behaviour,
    ContractError,
    Drive,
    ScriptedParent,
    ScriptedProvider,
    check_provider,
    hang,
    linger,
    reply,
)

Result = SubagentResult[Any]


class ScriptedDrive(Drive):
    """The scripted provider, its acts chosen by the kit's prompts."""

    def __init__(self, act: Act | None = None) -> None:
        self.script = act or self.behave
        self.leaked = 0
        self.begun = 0
        self.provider = self.make()

    def make(self) -> ScriptedProvider:
        self.provider = ScriptedProvider(self.script)
        return self.provider

    def running(self) -> int:
        return len(self.provider.running) + self.leaked

    def worked(self) -> int:
        return self.begun

    def structured(self) -> str | None:
        return self.prompt(Behaviour.ANSWER)

    def said(self) -> str | None:
        return "half"

    async def behave(self, request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        if request.max_depth is not None and request.max_depth <= request.parent.depth:
            raise SubagentDepthError(attempted_depth=1, max_depth=0)
        acts = {
            Behaviour.ANSWER: reply(structured={"answer": "done"}),
            Behaviour.HANG: speaks_and_hangs,
            Behaviour.LINGER: linger(0.01),
            Behaviour.FAIL: reply("", stop_reason="error", detail="it failed"),
        }
        return await acts[Behaviour(request.text)](request, publish, child_id)


async def speaks_and_hangs(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
    report = publish(child_id)
    for word, so_far in ("ha", "ha"), ("lf", "half"):
        report.partial(done(so_far, "aborted"))
        report.progress(TextProgress(text=word))
        await trio.lowlevel.checkpoint()
    await trio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize("clause", CLAUSES)
async def test_the_scripted_provider_keeps_every_clause(clause: str) -> None:
    drive = ScriptedDrive()
    await check_provider(drive.make, drive, clauses=[clause])


async def test_the_kit_works_on_a_virtual_clock(autojump_clock: Any) -> None:
    drive = ScriptedDrive()
    await check_provider(drive.make, drive)


# Broken backends. Each has the drive it leaks into, and otherwise behaves.

Breaker = Callable[[ScriptedDrive], Act]
BROKEN: dict[str, tuple[str, Breaker]] = {}


def breaks(clause: str) -> Callable[[Breaker], Breaker]:
    def enter(breaker: Breaker) -> Breaker:
        BROKEN[breaker.__name__] = clause, breaker
        return breaker

    return enter


def done(text: str = "done", stop_reason: str = "completed") -> Result:
    return SubagentResult(stop_reason=stop_reason, output=(TextBlock(text=text),))


@breaks("cancelled_while_starting")
def starts_behind_a_shield(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        with trio.CancelScope(shield=True):
            await trio.sleep_forever()
        raise AssertionError

    return act


@breaks("cancelled_at_publication")
def acts_although_publish_refused(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        with suppress(SubagentStartCancelledError):
            publish(child_id)
        drive.begun += 1
        return done()

    return act


@breaks("cancelled_at_publication")
def publishes_again_when_refused(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            publish(child_id)
        except SubagentStartCancelledError:
            publish(child_id)
        return done()

    return act


@breaks("raises_before_publication")
def leaves_its_child_when_the_start_fails(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        drive.leaked += 1
        publish(child_id)
        drive.leaked -= 1
        return done()

    return act


@breaks("raises_before_publication")
def takes_a_failed_publication_for_granted(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        with suppress(Exception):
            publish(child_id)
        return done()

    return act


@breaks("event_order")
def acts_before_it_publishes(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        await trio.lowlevel.checkpoint()
        drive.begun += 1
        return await drive.behave(request, publish, child_id)

    return act


@breaks("answers")
def says_nothing(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        return done("  ")

    return act


@breaks("answers")
def leaves_its_child_running(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        drive.leaked += 1
        return await drive.behave(request, publish, child_id)

    return act


@breaks("serves_again")
def has_one_id_for_all(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        return await drive.behave(request, publish, AgentId("the-child"))

    return act


@breaks("serves_again")
def serves_one_at_a_time(drive: ScriptedDrive) -> Act:
    served: list[AgentId] = []

    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        served.append(child_id)
        if len(served) > 1:
            return await hang()(request, publish, child_id)
        return await drive.behave(request, publish, child_id)

    return act


@breaks("failure_is_a_value")
def raises_for_a_failed_child(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        result = await drive.behave(request, publish, child_id)
        if not result.completed:
            raise OSError(result.detail)
        return result

    return act


@breaks("failure_is_a_value")
def passes_a_failure_off_as_success(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        await drive.behave(request, publish, child_id)
        return done()

    return act


@breaks("cancelled_after_publication")
def takes_a_cancellation_for_an_end(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            return await drive.behave(request, publish, child_id)
        except BaseException:  # noqa: BLE001 - that is the fault
            return done()

    return act


@breaks("deadline")
def settles_in_finally(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        report = publish(child_id)
        try:
            await trio.sleep_forever()
        finally:
            report.settle(done("", "aborted"))
        raise AssertionError

    return act


@breaks("deadline_above")
def takes_any_deadline_for_its_own(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        report = publish(child_id)
        try:
            await trio.sleep_forever()
        finally:
            report.settle(done("", "timeout"))
        raise AssertionError

    return act


@breaks("raises_after_publication")
def hides_the_cause(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            return await drive.behave(request, publish, child_id)
        except Exception:  # noqa: BLE001 - that is the fault
            raise OSError("something went wrong") from None

    return act


@breaks("raises_after_publication")
def makes_an_answer_of_an_error(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            return await drive.behave(request, publish, child_id)
        except Exception:  # noqa: BLE001 - that is the fault
            return done()

    return act


@breaks("group_after_publication")
def keeps_the_first_of_a_group(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            return await drive.behave(request, publish, child_id)
        except ExceptionGroup as exc:
            raise exc.exceptions[0] from None

    return act


@breaks("interrupted")
def swallows_an_interrupt(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        try:
            return await drive.behave(request, publish, child_id)
        except KeyboardInterrupt:
            return done("", "aborted")

    return act


@breaks("closes_to_quiescence")
def never_finishes_cleaning_up(drive: ScriptedDrive) -> Act:
    return linger(1e9)


@breaks("closes_to_quiescence")
def returns_while_its_child_still_cleans_up(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        drive.leaked += 1
        await trio.sleep_forever()
        raise AssertionError

    return act


@breaks("sibling_isolation")
def ends_all_children_with_one(drive: ScriptedDrive) -> Act:
    shared = trio.Event()

    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        try:
            await shared.wait()
        finally:
            shared.set()
        return done("", "aborted")

    return act


@breaks("capability_truth")
def ignores_the_depth_it_claims_to_keep(drive: ScriptedDrive) -> Act:
    assert EVERYTHING.depth_limit
    return reply(structured={"answer": "done"})


@breaks("capability_truth")
def ignores_the_schema_it_claims_to_honour(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id)
        return done()

    return act


@breaks("leaves_what_was_said")
def tells_nothing_of_what_is_said(drive: ScriptedDrive) -> Act:
    return hang("half")


@breaks("leaves_what_was_said")
def forgets_what_was_said(drive: ScriptedDrive) -> Act:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        publish(child_id).progress(TextProgress(text="half"))
        await trio.sleep_forever()
        raise AssertionError

    return act


@pytest.mark.parametrize(("name", "clause"), [(name, BROKEN[name][0]) for name in BROKEN])
async def test_a_broken_provider_fails_by_the_clause_it_breaks(
    name: str, clause: str, autojump_clock: Any
) -> None:
    drive = ScriptedDrive()
    drive.script = BROKEN[name][1](drive)
    with pytest.raises(ContractError, match=f"clause '{clause}': .*\n  the rule: ") as caught:
        await check_provider(drive.make, drive, clauses=[clause])
    assert caught.value.clause == clause


def test_there_are_enough_broken_ones() -> None:
    assert len(BROKEN) >= 12
    assert {clause for clause, _ in BROKEN.values()} <= set(CLAUSES)


async def test_a_hang_is_a_failure_by_name_that_says_who_waits_where(autojump_clock: Any) -> None:
    drive = ScriptedDrive(linger(1e9))
    with pytest.raises(ContractError, match=r"'closes_to_quiescence': it hangs; .* in act"):
        await check_provider(drive.make, drive, clauses=["closes_to_quiescence"])


async def test_a_hang_is_a_failure_on_a_real_clock_too() -> None:
    drive = ScriptedDrive(linger(1e9))
    with pytest.raises(ContractError, match=r"it hangs; not over after 0\.2 s"):
        await check_provider(drive.make, drive, clauses=["closes_to_quiescence"], limit=0.2)


async def test_the_kit_tries_the_clauses_one_by_one_and_names_the_first(
    autojump_clock: Any,
) -> None:
    drive = ScriptedDrive()
    drive.script = BROKEN["has_one_id_for_all"][1](drive)
    with pytest.raises(ContractError, match="serves_again"):
        await check_provider(drive.make, drive)


def test_a_drive_that_cannot_see_work_sees_none() -> None:
    assert Drive.worked(ScriptedDrive()) == 0


class SilentDrive(ScriptedDrive):
    """Knows no prompt for an answer in a schema, and no word of a child that hangs."""

    def structured(self) -> str | None:
        return Drive.structured(self)

    def said(self) -> str | None:
        return Drive.said(self)


async def test_what_a_drive_cannot_say_is_not_checked(autojump_clock: Any) -> None:
    async def act(request: ResolvedRequest, publish: Publish, child_id: AgentId) -> Result:
        if request.max_depth == 0:
            raise SubagentDepthError(attempted_depth=1, max_depth=0)
        publish(child_id)
        return done()

    drive = SilentDrive(act)
    await check_provider(drive.make, drive, clauses=["leaves_what_was_said", "capability_truth"])


class UntidyDrive(ScriptedDrive):
    """Its parents fail when they are cancelled, and have interrupts in a group."""

    @asynccontextmanager
    async def parent(self) -> AsyncGenerator[DelegatingParent]:
        async def untidy() -> None:
            try:
                await trio.sleep_forever()
            finally:
                if not tidy:
                    raise ValueError("untidy")

        tidy = False
        try:
            async with trio.open_nursery() as nursery, ScriptedParent() as parent:
                nursery.start_soon(untidy)
                yield parent
                tidy = True
                nursery.cancel_scope.cancel()
        except KeyboardInterrupt as exc:
            raise BaseExceptionGroup("of a nursery", [exc]) from None


async def test_a_breach_is_what_is_told_whatever_fails_in_its_wake(autojump_clock: Any) -> None:
    drive = UntidyDrive()
    drive.script = makes_an_answer_of_an_error(drive)
    with pytest.raises(ContractError, match="an error after publication was swallowed"):
        await check_provider(drive.make, drive, clauses=["raises_after_publication"])


async def test_a_parent_may_have_an_interrupt_in_a_group(autojump_clock: Any) -> None:
    drive = UntidyDrive()
    await check_provider(drive.make, drive, clauses=["interrupted"])


async def test_a_clause_that_does_not_exist_is_refused_by_its_name() -> None:
    drive = ScriptedDrive()
    with pytest.raises(ValueError, match="no clause is named answer; CLAUSES has the names"):
        await check_provider(drive.make, drive, clauses=["answers", "answer"])
