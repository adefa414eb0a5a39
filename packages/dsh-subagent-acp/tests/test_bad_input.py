"""What an agent may write and fail to read, and the client lives through."""

import json
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import memory_stream_one_way_pair

from dsh.subagent import TextProgress
from dsh.subagent_acp._connection import Connection
from dsh.subagent_acp._errors import AcpLineError
from dsh.subagent_acp._lines import LineBuffer
from dsh.subagent_acp._protocol import load
from dsh.subagent_acp._session import Session

MEGABYTE = 2**20


HOLOGRAM = {"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram"}}


def line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}) + "\n"


@pytest.mark.field_case("B203")
async def test_banners_and_noise_between_messages_are_skipped(bench: Any) -> None:
    noise = ["Welcome\n", "\x1b[2J\x1b[1;1H\n", "\n", '"str"\n', "[]\n", "12\n", "  \n", "null\n"]
    steps = [{"raw": each} for each in noise]
    result = await bench.run({"before": noise, "steps": [*steps, {"text": "fine"}]})
    assert (result.stop_reason, result.text) == ("completed", "fine")


@pytest.mark.field_case("B204")
async def test_a_line_that_is_no_json_costs_itself_only(bench: Any) -> None:
    deep = "[" * 100_000 + "\n"
    absurd = '{"id": ' + "9" * 5_000 + "}\n"
    steps = [{"raw": "{bad json\n"}, {"raw": deep}, {"raw": absurd}, {"text": "fine"}]
    assert (await bench.turn(*steps)).text == "fine"


@pytest.mark.field_case("B205")
async def test_bytes_that_are_no_text_cost_their_line_only(bench: Any) -> None:
    result = await bench.turn({"bytes": "fffe0a"}, {"text": "fine"})
    assert result.text == "fine"


@pytest.mark.field_case("B205")
def test_a_character_split_between_reads_stays_whole() -> None:
    lines, data = LineBuffer(100), "é\u2028\n".encode()
    assert [each for byte in data for each in lines.feed(bytes([byte]))] == ["é\u2028".encode()]
    assert lines.feed(b"a\nb\n\nc") == [b"a", b"b", b""]
    assert lines.feed(b"\n") == [b"c"]


async def test_half_a_surrogate_pair_in_the_answer_is_replaced(bench: Any) -> None:
    assert (await bench.turn({"text": "a\ud83d"})).text == "a?"


@pytest.mark.field_case("B201")
@pytest.mark.parametrize(
    "step",
    [
        {"error": {"code": 1, "message": "bad \ud83d"}},
        {"error": {"code": 1, "message": "bad", "data": "\udc00"}},
        {"result": {"stopReason": "\ud83d"}},
        {"bytes": "62616420eda080"},
    ],
)
async def test_half_a_surrogate_pair_is_in_no_detail(bench: Any, step: dict[str, Any]) -> None:
    """Whatever the detail is written to next need not be able to carry it."""
    result = await bench.turn(step, {"exit": 1})
    assert result.stop_reason == "error"
    assert (result.detail or "").encode()


DEEP: dict[str, dict[str, Any]] = {
    "input": {
        "method": "session/update",
        "params": {
            "sessionId": "s1",
            "update": {
                "sessionUpdate": "tool_call",
                "toolCallId": "c",
                "title": "t",
                "rawInput": 0,
            },
        },
    },
    "data": {"id": 3, "error": {"code": 1, "message": "m", "data": 0}},
    "message": {"id": 3, "error": {"code": 1, "message": 0}},
    "id": {"method": "foo", "id": 0},
    "question": {
        "method": "session/request_permission",
        "id": 1,
        "params": {
            "sessionId": "s1",
            "toolCall": {"toolCallId": "c", "rawInput": 0},
            "options": [],
        },
    },
    "question of a deep id": {
        "method": "session/request_permission",
        "id": 0,
        "params": {"sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": []},
    },
}


@pytest.mark.parametrize("where", DEEP)
async def test_no_depth_ends_the_reading(where: str) -> None:
    """A little less than what cannot be read at all is too deep for what is made of it."""
    await load()
    words = json.dumps(DEEP[where]).replace(" 0", " DEEP")
    for depth in range(700, 1_000):
        connection = Connection(max_line_bytes=MEGABYTE)
        connection.peer = session = Session(connection, "s1", max_output_bytes=MEGABYTE)
        asked = line(method="session/update", params={"sessionId": "s1"})
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.prompt, ())
            await trio.testing.wait_all_tasks_blocked()
            ours, theirs = memory_stream_one_way_pair()
            deep = words.replace("DEEP", "[" * depth + "]" * depth)
            await ours.send_all(f"{deep}\n{asked}".encode())
            await ours.aclose()
            await connection.read(theirs)
            nursery.cancel_scope.cancel()


async def test_a_message_of_five_megabytes_is_read(bench: Any) -> None:
    result = await bench.turn({"big": 5 * MEGABYTE})
    assert len(result.text) == 5 * MEGABYTE


@pytest.mark.field_case("B202")
async def test_a_line_without_end_is_an_error_at_the_limit(bench: Any) -> None:
    with trio.fail_after(20):
        steps = ({"text": "so far"}, {"endless": True})
        result = await bench.turn(*steps, max_line_bytes=100_000, eof_grace=0.2)
    assert result.stop_reason == "error"
    assert "more than 100000 bytes (max_line_bytes)" in (result.detail or "")
    assert result.text == "so far"


@pytest.mark.parametrize("data", [b"12345678901", b"12345678901\n", b"1\n12345678901"])
def test_the_limit_holds_for_whole_lines_and_for_begun_ones(data: bytes) -> None:
    with pytest.raises(AcpLineError):
        LineBuffer(10).feed(data)
    assert LineBuffer(11).feed(data + b"\n")


async def test_an_answer_beyond_the_limit_is_an_error_with_what_there_was(bench: Any) -> None:
    result = await bench.turn({"text": "12345"}, {"text": "67890x"}, max_output_bytes=10)
    assert result.stop_reason == "error"
    assert "more than 10 bytes in one turn (max_output_bytes)" in (result.detail or "")
    assert result.text == "12345"


def called(call_id: str, status: str = "pending", **fields: Any) -> dict[str, Any]:
    kind = "tool_call" if status == "pending" else "tool_call_update"
    return {"update": {"kind": kind, "toolCallId": call_id, "status": status, **fields}}


async def test_tool_calls_without_end_are_an_error_at_the_limit(bench: Any) -> None:
    calls = [called(str(number), title="t" * 100) for number in range(50)]
    result = await bench.turn({"text": "begun"}, *calls, max_output_bytes=10_000)
    assert (result.stop_reason, result.text) == ("error", "begun")
    assert "more than 10000 bytes in one turn (max_output_bytes)" in (result.detail or "")
    assert result.tool_calls == 33


async def test_only_the_arguments_of_calls_that_run_count_for_the_limit(bench: Any) -> None:
    large = {"text": "x" * 3_000}
    open_calls = [called(str(number), title="t", rawInput=large) for number in range(4)]
    result = await bench.turn(*open_calls, max_output_bytes=10_000)
    assert result.stop_reason == "error"
    steps = list[dict[str, Any]]()
    for number in range(4):
        steps += [called(str(number), title="t", rawInput=large)] * 2
        steps += [called(str(number), "completed", rawInput=large)]
        steps += [called(str(number), "completed", rawInput=large)]
    result = await bench.turn(*steps, {"text": "fine"}, max_output_bytes=10_000)
    assert (result.stop_reason, result.text) == ("completed", "fine")


@pytest.mark.field_case("B207")
async def test_a_large_prompt_meets_an_agent_that_is_itself_writing(bench: Any) -> None:
    prompt = "x" * (5 * MEGABYTE)
    with trio.fail_after(60):
        result = await bench.run({"hold_stdin": 10_000}, request=bench.request(prompt))
    assert result.text.endswith("done")
    assert bench.heard("session/prompt")[0]["params"]["prompt"][0]["text"] == prompt


@pytest.mark.field_case("B212")
async def test_an_unknown_method_is_answered_so(bench: Any) -> None:
    asked: dict[str, Any] = {"method": "_vendor/x", "params": {}}
    result = await bench.turn({"ask": asked})
    assert json.loads(result.text)["code"] == -32601
    (answer,) = [each for each in bench.heard() if "error" in each]
    assert answer["id"] == 1000


@pytest.mark.field_case("B212")
async def test_unknown_notifications_and_answers_nobody_awaits_are_ignored(bench: Any) -> None:
    steps = [
        {"raw": line(method="_vendor/happened", params={"x": 1})},
        {"raw": line(method="session/update", params={"sessionId": "s1", "update": {}})},
        {"raw": line(method="session/update", params=[1])},
        {"raw": line(id=777, result={"stopReason": "end_turn"})},
        {"raw": line(id="3", result={"stopReason": "end_turn"})},
        {"raw": line(id=True, result={"stopReason": "end_turn"})},
        {"raw": line(id=3)},
        {"raw": line(method="session/update", params={"sessionId": "s1", "update": HOLOGRAM})},
        {"text": "fine"},
    ]
    assert (await bench.turn(*steps)).text == "fine"


async def test_updates_of_another_session_are_not_heard(bench: Any) -> None:
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "other"}}
    other = line(method="session/update", params={"sessionId": "s2", "update": chunk})
    assert (await bench.turn({"raw": other}, {"text": "ours"})).text == "ours"


async def test_flooded_stderr_is_drained(bench: Any) -> None:
    result = await bench.turn({"stderr": 3 * MEGABYTE}, {"text": "fine"})
    assert result.text == "fine"


async def test_an_agent_that_asks_and_never_reads_is_given_up(bench: Any) -> None:
    asked = line(id=5, method="_vendor/x")
    with trio.fail_after(30):
        result = await bench.turn({"repeat": [asked, 5_000]}, {"endless": True}, eof_grace=0.2)
    assert result.stop_reason == "error"
    assert "1000 messages unread" in (result.detail or "")


async def test_a_listener_that_takes_nothing_blocks_no_child(bench: Any) -> None:
    """Progress is told, not offered: what a listener does with it is the listener's affair."""
    send, receive = trio.open_memory_channel[object](1)
    missed: list[object] = []

    def listen(event: object) -> None:
        try:
            send.send_nowait(event)
        except trio.WouldBlock:
            missed.append(event)

    bench.parent.hooks.on(TextProgress, listen)
    result = await bench.turn({"flood": 500})
    assert result.text == "x" * 500
    assert len(missed) == 499
    receive.close()


@pytest.mark.guarantee("B-ACP-12")
async def test_an_agent_that_dies_during_its_turn_is_an_error(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A turn that fails is a result, never raised, and logged with the backend and the reason."""
    result = await bench.turn({"text": "so far"}, {"stderr": 3}, {"exit": 4})
    assert result.stop_reason == "error"
    assert result.text == "so far"
    assert result.detail == "the agent exited with status 4; it said: eee"
    assert "'acp': the agent exited with status 4" in caplog.text


async def test_an_agent_whose_helper_holds_its_output_is_seen_to_die(bench: Any) -> None:
    script = {"helper": "exec sleep 1000", "steps": [{"exit": 5}]}
    with trio.fail_after(20):
        result = await bench.run(script)
    assert result.detail == "the agent exited with status 5"
    assert not bench.children()


async def test_an_agent_that_closes_its_output_is_an_error(bench: Any) -> None:
    words = "exec >&-; cat >/dev/null"
    hello = line(id=1, result={"protocolVersion": 1})
    session = line(id=2, result={"sessionId": "s"})
    script = (
        f"read a; printf '%s\\n' '{hello.strip()}'; read b; printf '%s\\n' '{session.strip()}';"
    )
    result = await bench.run(command="sh", args=("-c", f"{script} read c; {words}"))
    assert result.detail == "the agent closed its output"


@pytest.mark.parametrize("heard", [2, 3], ids=["before its prompt", "before it is answered"])
async def test_an_agent_that_closes_its_input_is_an_error(bench: Any, heard: int) -> None:
    """What it can never be told it will never answer; nobody waits for its end, or a deadline."""
    question: dict[str, Any] = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []}
    lines = [
        line(id=1, result={"protocolVersion": 1}),
        line(id=2, result={"sessionId": "s"}),
        line(id=5, method="session/request_permission", params=question),
    ]
    words = [f"read x; printf '%s\\n' '{text.strip()}'" for text in lines[:heard]]
    words[-1] = words[-1].replace("; ", "; exec <&-; ", 1)
    script = "; ".join([*words, "exec sleep 1000"])
    with trio.fail_after(20):
        result = await bench.run(command="sh", args=("-c", script), eof_grace=0.1)
    assert (result.stop_reason, result.detail) == ("error", "the agent closed its input")
    assert not bench.children()


async def test_an_agent_that_closes_its_input_and_dies_is_told_of_by_its_end(bench: Any) -> None:
    hello = line(id=1, result={"protocolVersion": 1}).strip()
    session = line(id=2, result={"sessionId": "s"}).strip()
    words = (
        f"read x; printf '%s\\n' '{hello}'; read x; exec <&-; printf '%s\\n' '{session}'; "
        "sleep 1000 & exit 3"  # what it leaves behind holds its output open
    )
    with trio.fail_after(20):
        result = await bench.run(command="sh", args=("-c", words))
    assert (result.stop_reason, result.detail) == ("error", "the agent exited with status 3")
    assert not bench.children()
