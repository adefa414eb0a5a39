"""What an agent asks, and who answers."""

import json
from typing import Any

import pytest
import trio
from trio.testing import memory_stream_one_way_pair

from dsh.subagent_acp import PermissionOption, PermissionProgress, PermissionRequest
from dsh.subagent_acp._connection import Connection
from dsh.subagent_acp._desk import PermissionDesk

REMOVAL = PermissionRequest(
    call_id="c1",
    title="Remove it",
    kind="delete",
    arguments=None,
    options=(PermissionOption(option_id="x", name="Yes", kind="allow_once"),),
)
KINDS = ("allow_always", "allow_once", "reject_always", "reject_once")


def question(*kinds: str, **call: Any) -> dict[str, Any]:
    """A step that asks, with ids that follow no rule, and answers with what it was told."""
    options = [
        {"optionId": f"x-{number}", "name": kind, "kind": kind} for number, kind in enumerate(kinds)
    ]
    tool = {"toolCallId": "c1", "title": "Remove it", "kind": "delete"} | call
    return {"ask": {"params": {"sessionId": "s1", "toolCall": tool, "options": options}}}


def answer(text: str) -> str:
    """The option the agent was given, or `cancelled`."""
    outcome = json.loads(text)["outcome"]
    return outcome.get("optionId", outcome["outcome"])


@pytest.mark.field_case("B156")
@pytest.mark.guarantee("B-ACP-09")
async def test_by_default_everything_is_rejected(bench: Any) -> None:
    """Without a policy an agent that asks is given its own least reject option, and its turn goes
    on."""
    result = await bench.turn(question(*KINDS))
    assert result.completed
    assert answer(result.text) == "x-3"


@pytest.mark.guarantee("B-ACP-09")
async def test_without_an_option_to_reject_the_question_is_cancelled(bench: Any) -> None:
    """An agent that offers nothing to reject with is told that its question was cancelled."""
    assert answer((await bench.turn(question("allow_once"))).text) == "cancelled"
    assert answer((await bench.turn(question())).text) == "cancelled"


@pytest.mark.guarantee("B-ACP-09")
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (KINDS, "x-1"),
        (("reject_once", "allow_always"), "x-1"),
        (("reject_once",), "cancelled"),
        ((), "cancelled"),
    ],
)
async def test_allowing_takes_the_least_option_that_allows(
    bench: Any, kinds: tuple[str, ...], expected: str
) -> None:
    """The allowing policy chooses the option that allows once before the one that allows always,
    and never one that rejects."""
    result = await bench.turn(question(*kinds), permission="allow")
    assert answer(result.text) == expected


@pytest.mark.field_case("B155")
async def test_an_option_goes_back_with_the_id_it_came_with(bench: Any) -> None:
    options = [
        {"optionId": "approve_for_session", "name": "a", "kind": "allow_always"},
        {"optionId": "x-1", "name": "b", "kind": "allow_once"},
        {"optionId": "deny_always", "name": "c", "kind": "reject_always"},
    ]
    for policy, expected in (("allow", "x-1"), ("reject", "deny_always")):
        step = question()
        step["ask"]["params"]["options"] = options
        assert answer((await bench.turn(step, permission=policy)).text) == expected


@pytest.mark.field_case("B157")
async def test_a_kind_nobody_knows_allows_nothing(bench: Any) -> None:
    for kind in ("switch_mode", "other", "unheard_of"):
        result = await bench.turn(question(*KINDS, kind=kind))
        assert answer(result.text) == "x-3"
    result = await bench.turn(question("allow_everything"), permission="allow")
    assert answer(result.text) == "cancelled"


async def test_a_question_of_another_session_or_of_no_shape_is_refused(bench: Any) -> None:
    other = question(*KINDS)
    other["ask"]["params"]["sessionId"] = "s2"
    for step in (other, {"ask": {"params": {"sessionId": "s1"}}}, {"ask": {"params": None}}):
        result = await bench.turn(step, permission="allow")
        assert json.loads(result.text)["code"] == -32602


async def test_an_approver_chooses(bench: Any) -> None:
    asked: list[PermissionRequest] = []

    async def approve(request: PermissionRequest) -> PermissionOption | None:
        await trio.lowlevel.checkpoint()
        asked.append(request)
        return request.options[0]

    result = await bench.turn(question(*KINDS, rawInput={"path": "x"}), permission=approve)
    assert answer(result.text) == "x-0"
    assert (asked[0].title, asked[0].kind, asked[0].arguments) == (
        "Remove it",
        "delete",
        {"path": "x"},
    )


async def test_an_approver_is_told_what_was_told_of_the_call(bench: Any) -> None:
    asked: list[PermissionRequest] = []

    async def approve(request: PermissionRequest) -> PermissionOption | None:
        await trio.lowlevel.checkpoint()
        asked.append(request)
        return None

    await bench.turn({"call": "c1"}, question(*KINDS, title=None), permission=approve)
    await bench.turn(question(*KINDS, title=None), permission=approve)
    told = [(each.title, each.arguments) for each in asked]
    assert told == [("tool c1", {"a": 1}), ("a tool call", None)]


async def test_an_approver_that_fails_or_chooses_something_else_rejects(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def none(_: PermissionRequest) -> None:
        await trio.lowlevel.checkpoint()

    async def raises(_: PermissionRequest) -> PermissionOption:
        raise RuntimeError("no idea")

    async def invents(_: PermissionRequest) -> PermissionOption:
        return PermissionOption(option_id="x-0", name="mine", kind="allow_always")

    for approver in (none, raises, invents):
        assert answer((await bench.turn(question(*KINDS), permission=approver)).text) == "x-3"
    assert "no idea" in caplog.text
    assert "chose none of the options" in caplog.text


async def test_a_credential_in_a_title_is_in_no_log_and_a_long_title_is_cut(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def raises(_: PermissionRequest) -> PermissionOption:
        raise RuntimeError("no idea")

    async def invents(_: PermissionRequest) -> PermissionOption:
        return PermissionOption(option_id="x-0", name="mine", kind="allow_always")

    title = f"{'x' * 190}very-private{'y' * 1_000}"
    for approver in (raises, invents):
        await bench.turn(
            question(*KINDS, title=title), permission=approver, env={"X_KEY": "very-private"}
        )
    for record in caplog.records:
        assert "very-pri" not in record.getMessage()
        assert "x***y" in record.getMessage()
        assert len(record.getMessage()) < 300
    assert len(caplog.records) == 2


@pytest.mark.field_case("B153")
async def test_a_question_open_at_a_cancel_is_answered_as_cancelled(bench: Any) -> None:
    waiting, ended = trio.Event(), trio.Event()

    async def approve(_: PermissionRequest) -> PermissionOption | None:
        try:
            waiting.set()
            await trio.sleep_forever()
        finally:
            ended.set()

    script = {"steps": [question(*KINDS)]}
    async with await bench.start(script, permission=approve) as run:
        await waiting.wait()
        run.cancel()
        assert (await run.result()).stop_reason == "aborted"
    assert ended.is_set()
    told = [each for each in bench.heard() if each.get("id") == 1000 or "cancel" in str(each)]
    assert told[0]["result"] == {"outcome": {"outcome": "cancelled"}}
    assert told[1]["method"] == "session/cancel"


@pytest.mark.field_case("B149")
async def test_denials_are_told_and_counted(bench: Any) -> None:
    result = await bench.turn(question(*KINDS), question(*KINDS), {"text": "done"})
    assert result.completed
    assert result.detail == "2 of its requests for permission denied"
    told = bench.parent.heard(PermissionProgress)
    assert [(each.title, each.allowed, each.option_id) for each in told] == [
        ("Remove it", False, "x-3")
    ] * 2
    result = await bench.turn(question(*KINDS), permission="allow")
    assert result.detail is None


async def test_more_questions_than_an_approver_may_have_open_are_rejected(bench: Any) -> None:
    async def approve(_: PermissionRequest) -> PermissionOption | None:
        await trio.sleep_forever()

    params = question(*KINDS)["ask"]["params"]
    asked = {"jsonrpc": "2.0", "id": 5, "method": "session/request_permission", "params": params}
    steps = [{"repeat": [json.dumps(asked) + "\n", 100]}, question(*KINDS)]
    result = await bench.turn(*steps, permission=approve)
    assert answer(result.text) == "x-3"


async def test_a_question_that_is_closed_before_anybody_was_asked_is_answered_once() -> None:
    """An agent may ask and end its turn in one breath: the approver's task then begins too late."""
    asked: list[PermissionRequest] = []

    async def approver(request: PermissionRequest) -> PermissionOption | None:
        await trio.lowlevel.checkpoint()
        asked.append(request)
        return request.options[0]

    told: list[PermissionProgress] = []
    connection, (ours, theirs) = Connection(max_line_bytes=100), memory_stream_one_way_pair()
    async with trio.open_nursery() as nursery:
        desk = PermissionDesk(approver, connection, nursery=nursery, tell=told.append, repeat=str)
        desk.take(7, REMOVAL)
        desk.close()
    connection.close()
    await connection.write(ours)
    answers = [json.loads(line) for line in (await theirs.receive_some()).splitlines()]
    assert [(each["id"], each["result"]["outcome"]) for each in answers] == [
        (7, {"outcome": "cancelled"})
    ]
    assert not asked
    assert [each.allowed for each in told] == [False]


async def test_a_question_open_at_the_close_or_asked_later_is_answered_once() -> None:
    decide, asked = trio.Event(), trio.Event()

    async def approver(request: PermissionRequest) -> PermissionOption | None:
        asked.set()
        await decide.wait()
        return request.options[0]

    told: list[PermissionProgress] = []
    async with trio.open_nursery() as nursery:
        connection = Connection(max_line_bytes=100)
        desk = PermissionDesk(approver, connection, nursery=nursery, tell=told.append, repeat=str)
        desk.take(7, REMOVAL)
        await asked.wait()
        desk.close()
        desk.take(8, REMOVAL)
        decide.set()
    assert [each.allowed for each in told] == [False, False]
