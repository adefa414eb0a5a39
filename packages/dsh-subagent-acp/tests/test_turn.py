"""A turn: its answer, its progress, its end."""

from typing import Any

import pytest
import trio

from dsh.agent import Usage
from dsh.subagent import (
    Progress,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
    UsageProgress,
)


def ignore(group: int, number: int) -> None:
    """A signal that does nothing."""


USAGE = {
    "totalTokens": 19,
    "inputTokens": 7,
    "outputTokens": 5,
    "cachedReadTokens": 4,
    "cachedWriteTokens": 2,
    "thoughtTokens": 1,
}


@pytest.mark.guarantee("B-ACP-07")
async def test_the_answer_is_the_text_of_the_messages_in_one_block(bench: Any) -> None:
    """The chunks of an agent's messages are one block of text; thoughts and plans are no part of
    it."""
    plan: dict[str, Any] = {"kind": "plan", "entries": []}
    picture = {"type": "image", "mimeType": "image/png", "data": "aaaa"}
    steps: list[Any] = [
        {"thought": "hm"},
        {"text": "one "},
        {"text": ""},
        {"update": plan},
        {"update": {"kind": "agent_thought_chunk", "content": picture}},
        {"text": "two"},
    ]
    assert [block.text for block in (await bench.turn(*steps)).output] == ["one two"]


async def test_the_answer_is_what_follows_the_last_tool_call(bench: Any) -> None:
    steps = [{"text": "Let me look."}, {"call": "a"}, {"called": "a"}, {"text": "It is 4."}]
    assert (await bench.turn(*steps)).text == "It is 4."


async def test_a_late_end_of_a_call_cuts_no_answer_short(bench: Any) -> None:
    steps = [{"call": "a"}, {"text": "It is "}, {"call": "a"}, {"called": "a"}, {"text": "4."}]
    assert (await bench.turn(*steps)).text == "It is 4."


async def test_without_text_after_the_last_call_the_answer_is_all_text(bench: Any) -> None:
    steps = [{"text": "It is 4."}, {"call": "a"}, {"failed": "a"}, {"text": " \n"}]
    assert (await bench.turn(*steps)).text == "It is 4. \n"


async def test_a_call_told_of_only_at_its_end_counts(bench: Any) -> None:
    result = await bench.turn({"text": "Let me look."}, {"called": "a"}, {"text": "4"})
    assert (result.text, result.tool_calls) == ("4", 1)


@pytest.mark.guarantee("B-ACP-07")
async def test_a_clean_end_without_text_is_no_success(bench: Any) -> None:
    """An agent that ends well without visible text has given no output, and no block of it."""
    for steps in ([], [{"thought": "hm"}], [{"text": "  \n"}]):
        result = await bench.turn(*steps, {"result": {"stopReason": "end_turn"}})
        assert (result.stop_reason, result.output) == ("no_output", ())


@pytest.mark.guarantee("B-HEAD-16")
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("end_turn", "completed"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "max_steps"),
        ("refusal", "refusal"),
        ("cancelled", "aborted"),
    ],
)
async def test_the_agents_word_for_its_end_becomes_ours(bench: Any, said: str, reason: str) -> None:
    """Each of the protocol's stop reasons has its own in the result, a refusal among them, and only
    one of them is success."""
    result = await bench.turn({"text": "partial"}, {"result": {"stopReason": said}})
    assert (result.stop_reason, result.text) == (reason, "partial")
    assert result.completed == (said == "end_turn")
    assert bool(result.detail) == (not result.completed)


@pytest.mark.field_case("B214")
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"stopReason": "error"}, "'error'"),
        ({"stopReason": "zzz"}, "'zzz'"),
        ({}, "without saying why"),
        (None, "without saying why"),
    ],
)
async def test_a_word_nobody_knows_is_a_failure_that_repeats_it(
    bench: Any, answer: Any, told: str
) -> None:
    result = await bench.turn({"text": "streamed"}, {"result": answer})
    assert (result.stop_reason, result.text) == ("error", "streamed")
    assert told in (result.detail or "")


@pytest.mark.guarantee("B-ACP-12")
async def test_an_error_in_answer_to_the_prompt_is_a_result(bench: Any) -> None:
    """A prompt answered with an error settles the run as one, with the agent's own words."""
    failing = {"code": -32603, "message": "Internal error", "data": {"details": "quota"}}
    result = await bench.turn({"text": "so far"}, {"error": failing})
    assert (result.stop_reason, result.text) == ("error", "so far")
    assert 'the error Internal error: {"details": "quota"} (code -32603)' in (result.detail or "")


async def test_progress_tells_of_text_thoughts_calls_and_usage(bench: Any) -> None:
    done = {"stopReason": "end_turn", "usage": USAGE}
    steps = [{"thought": "hm"}, {"call": "a"}, {"called": "a"}, {"call": "b"}, {"failed": "b"}]
    result = await bench.turn(*steps, {"text": "done"}, {"result": done})
    thought, began, ended, _, failed, text, used = bench.parent.heard(Progress)
    assert isinstance(thought, ThoughtProgress)
    assert isinstance(began, ToolStartedProgress)
    assert (began.call_id, began.name, began.arguments) == ("a", "tool a", '{"a": 1}')
    assert isinstance(ended, ToolEndedProgress)
    assert (ended.name, ended.is_error, ended.text) == ("tool a", False, "output")
    assert isinstance(failed, ToolEndedProgress)
    assert failed.is_error
    assert isinstance(text, TextProgress)
    assert isinstance(used, UsageProgress)
    assert {each.child_id for each in bench.parent.heard(Progress)} == {result.child_id}


async def test_usage_is_told_where_the_agent_does(bench: Any) -> None:
    done = {"stopReason": "end_turn", "usage": USAGE}
    result = await bench.turn({"text": "x"}, {"result": done})
    assert result.usage == Usage(
        input_tokens=7,
        output_tokens=5,
        cache_read_tokens=4,
        cache_write_tokens=2,
        reasoning_tokens=1,
    )
    assert result.usage.total_tokens == USAGE["totalTokens"]


async def test_counts_the_agent_does_not_tell_stay_unknown(bench: Any) -> None:
    for extra in ({}, {"usage": {"inputTokens": "many"}}):
        result = await bench.turn({"text": "x"}, {"result": {"stopReason": "end_turn"} | extra})
        assert result.completed
        assert result.usage is None
        assert result.model_requests is None


@pytest.mark.field_case("B103")
async def test_helpers_do_not_outlive_a_success(bench: Any) -> None:
    result = await bench.run({"helper": "trap '' HUP; exec sleep 1000"})
    assert result.completed
    assert not bench.children()


@pytest.mark.field_case("B107")
async def test_an_agent_that_answers_and_stays_is_ended(bench: Any) -> None:
    with trio.fail_after(20):
        result = await bench.run({"ignore_eof": True}, eof_grace=0.3)
    assert (result.stop_reason, result.text) == ("completed", "done")
    assert not bench.children()


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # its handle is dropped
async def test_a_group_that_survives_makes_the_run_lost(
    bench: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Beside threads the only case in which an end does not mean that nothing runs."""
    script = {"ignore_eof": True, "pids": str(bench.folder / "pids")}
    with monkeypatch.context() as patch:
        patch.setattr("dsh.subagent_acp._process.signal_group", ignore)
        graces = {"eof_grace": 0.2, "term_grace": 0.1, "kill_grace": 0.1}
        result = await bench.run(script, **graces)
    assert (result.stop_reason, result.text) == ("lost", "done")
    assert "survived SIGKILL and runs on" in (result.detail or "")
    assert "survived SIGKILL" in caplog.text
    await bench.kill_children()
