"""A structured answer from an agent that has no tool for it."""

import json
import time
from dataclasses import dataclass
from typing import Any, cast

import pytest

from dsh.subagent import ResolvedRequest
from dsh.subagent_acp._structured import Capture

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "line": {"type": "integer"}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass
class Answer:
    answer: str
    line: int = 0


async def ask(bench: Any, *turns: str, schema: Any = SCHEMA, **settings: Any) -> Any:
    """Delegate to an agent that says one of these in each turn."""
    script = {"steps": [[{"text": text}] for text in turns]}
    return await bench.run(script, request=bench.request(output_schema=schema), **settings)


def prompts(bench: Any) -> list[list[str]]:
    sent = bench.heard("session/prompt")
    return [[block["text"] for block in each["params"]["prompt"]] for each in sent]


@pytest.mark.field_case("B052")
async def test_the_schema_goes_with_the_prompt(bench: Any) -> None:
    result = await ask(bench, '{"answer": "42"}')
    assert result.completed
    assert result.structured == result.value == {"answer": "42"}
    ((task, instruction),) = prompts(bench)
    assert task == "go"
    assert "reply with one JSON" in instruction
    assert "There is no tool for this" in instruction
    assert json.loads(instruction.partition("```json\n")[2].removesuffix("\n```")) == SCHEMA


@pytest.mark.field_case("B040")
@pytest.mark.parametrize(
    "text",
    [
        '  {"answer": "x"}\n',
        'Here it is:\n```json\n{"answer": "x"}\n```\nBye.',
        '```\n{"answer": "x"}\n```',
        'First\n```json\n{"answer": "draft"}\n```\nthen\n```json\n{"answer": "x"}\n```',
        '```python\nprint()\n```\n````json\n{"answer": "x"}\n````\n',
        '```json\n{"answer": "x"}\n```\n```sh\nls\n```',
        'So:\r\n```json\r\n{"answer": "x"}\r\n```\r\n',
        'So:\n  ```json\n  {"answer": "x"}```',
        'So:\n```json\n{"answer": "x"}\n',
    ],
)
async def test_the_answer_is_the_json_of_the_reply_or_of_its_last_block(
    bench: Any, text: str
) -> None:
    result = await ask(bench, text)
    assert result.value == {"answer": "x"}
    assert result.text == text


@pytest.mark.parametrize(
    "text",
    ["```a\n" * 400_000, "```\n" + " " * 2_000_000, "```\n" + "x\n" * 800_000, "`" * 2_000_000],
    ids=["openings", "blanks", "lines", "ticks"],
)
def test_a_reply_of_megabytes_without_json_is_looked_through_once(text: str) -> None:
    began = time.process_time()
    capture = Capture(cast("ResolvedRequest", None))  # it is asked of a value only
    assert not capture.read(text)
    assert time.process_time() - began < 5  # a second look at each line takes hours


async def test_a_type_gives_its_value_back(bench: Any) -> None:
    result = await ask(bench, '{"answer": "x", "line": 3}', schema=Answer)
    assert result.value == Answer(answer="x", line=3)
    assert result.structured == {"answer": "x", "line": 3}


async def test_an_answer_that_does_not_fit_is_asked_for_again_with_all_that_is_wrong(
    bench: Any,
) -> None:
    result = await ask(bench, '{"line": "x", "more": 1}', '{"answer": "x"}')
    assert result.completed
    assert result.value == {"answer": "x"}
    _, (nudge,) = prompts(bench)
    listed = [line for line in nudge.splitlines() if line.startswith("- ")]
    assert len(listed) == 3
    assert [word in nudge for word in ("answer", "line", "more")] == [True] * 3
    sessions = {each["params"]["sessionId"] for each in bench.heard("session/prompt")}
    assert sessions == {"s1"}


async def test_of_many_violations_the_first_are_told_and_the_rest_is_counted(bench: Any) -> None:
    lines = {"type": "array", "items": {"type": "integer"}}
    schema = {"type": "object", "properties": {"lines": lines}}
    wrong = json.dumps({"lines": ["x"] * 5_000})
    result = await ask(bench, wrong, wrong, schema=schema)
    _, (nudge,) = prompts(bench)
    listed = [line for line in nudge.splitlines() if line.startswith("- ")]
    assert len(listed) == 21
    assert "value.lines[19]" in listed[-2]
    assert listed[-1] == "- and 981 more"
    assert result.stop_reason == "error"
    assert (result.detail or "").endswith("; and 981 more")


@pytest.mark.field_case("B063")
async def test_null_is_a_value_that_is_present(bench: Any) -> None:
    result = await ask(bench, '{"answer": "x", "line": null}', structured_nudge_retries=0)
    assert result.stop_reason == "error"
    assert "line" in (result.detail or "")


@pytest.mark.field_case("B040")
async def test_an_answer_that_never_fits_is_an_error(bench: Any) -> None:
    result = await ask(bench, "no idea", "NaN", structured_nudge_retries=1)
    assert (result.stop_reason, result.structured, result.value) == ("error", None, None)
    assert result.detail is not None
    assert result.detail.startswith("no structured answer; ")
    assert len(prompts(bench)) == 2


async def test_how_often_it_is_asked_again_is_configured(bench: Any) -> None:
    await ask(bench, "no", structured_nudge_retries=0)
    assert len(prompts(bench)) == 1
    result = await ask(bench, "no", "no", "no", '{"answer": "x"}', structured_nudge_retries=3)
    assert result.completed
    assert len(prompts(bench)) == 5


async def test_a_turn_that_ended_badly_is_not_asked_again(bench: Any) -> None:
    steps = [{"text": '{"answer": "x"}'}, {"result": {"stopReason": "max_tokens"}}]
    request = bench.request(output_schema=SCHEMA)
    result = await bench.run({"steps": steps}, request=request)
    assert (result.stop_reason, result.structured) == ("max_tokens", None)
    assert len(prompts(bench)) == 1


async def test_what_was_said_before_does_not_count_in_the_next_turn(bench: Any) -> None:
    result = await ask(bench, "prose", '{"answer": "x"}')
    assert result.text == '{"answer": "x"}'
