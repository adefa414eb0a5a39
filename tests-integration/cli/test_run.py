"""`dsh run` against an endpoint over real HTTP, and what is kept of it."""

import errno
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, Dsh, environment
from fake_endpoint import Body, FakeEndpoint, Reply, refusal
from openai_wire import answer

from dsh.agent import TextBlock, ToolCallBlock, Usage


def says(text: str) -> TextBlock:
    return TextBlock(text=text)


def calls(name: str, id: str = "c1", **arguments: object) -> ToolCallBlock:
    return ToolCallBlock(id=id, name=name, arguments=json.dumps(arguments))


def delegates(prompt: str = "How many?", id: str = "c1") -> ToolCallBlock:
    return calls("subagent", id, description="count the files", prompt=prompt)


def test_the_answer_and_nothing_else_is_on_standard_output(
    endpoint: FakeEndpoint, dsh: Dsh
) -> None:
    endpoint.replies = [answer(says("Forty-two."))]
    ended = dsh("run", "What is it?", "--model", "openai:m")
    assert (ended.status, ended.out) == (0, "Forty-two.\n")
    assert "completed (1 request to openai:m" in ended.err


def test_a_delegation_is_told_line_by_line_where_there_is_no_terminal(
    endpoint: FakeEndpoint,
    dsh: Dsh,
) -> None:
    endpoint.replies = [
        answer(delegates(), finish="tool_calls"),
        answer(says("3")),
        answer(says("There are 3.")),
    ]
    ended = dsh("run", "Count.")
    assert ended.out == "There are 3.\n"
    lines = [line.partition(" (")[0] for line in ended.err.splitlines()]
    assert lines == [
        "Count. [spawn]: started",
        "Count. [spawn]: calls subagent",
        "count the files [spawn]: started",
        "count the files [spawn]: completed",
        "Count. [spawn]: completed",
        "dsh: completed",
    ]
    assert "\x1b" not in ended.err


def test_json_has_the_tree_and_what_everybody_used(endpoint: FakeEndpoint, dsh: Dsh) -> None:
    two = Usage(input_tokens=2)
    endpoint.replies = [
        answer(delegates(), finish="tool_calls", usage=two),
        answer(says("3"), usage=two),
        answer(says("There are 3."), usage=two),
    ]
    ended = dsh("run", "Count.", "--json")
    found = ended.json
    assert (found["version"], found["completed"], found["text"]) == (1, True, "There are 3.")
    assert (found["model_requests"], found["tool_calls"]) == (3, 1)
    (root,) = found["tree"]
    (child,) = root["children"]
    assert (root["label"], root["usage"]["input_tokens"]) == ("Count.", 6)
    assert (child["text"], child["usage"]["input_tokens"]) == ("3", 2)
    assert (child["label"], child["provider"]) == ("count the files", "spawn")


def test_the_prompt_may_come_from_standard_input(endpoint: FakeEndpoint, dsh: Dsh) -> None:
    endpoint.replies = [answer(says("Yes."))]
    ended = dsh("run", stdin="Is it so?")
    assert ended.out == "Yes.\n"
    assert endpoint.requests[0]["messages"][-1]["content"] == "Is it so?"


def test_the_answer_comes_in_the_shape_of_a_schema_in_a_file(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    schema = tmp_path / "answer.json"
    count = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    schema.write_text(json.dumps(count))
    endpoint.replies = [
        answer(calls("structured_output", n="three"), finish="tool_calls"),
        answer(calls("structured_output", n=3), finish="tool_calls"),
    ]
    ended = dsh("run", "Count.", "--output-schema", str(schema))
    assert json.loads(ended.out) == {"n": 3}


def test_the_answer_comes_in_the_shape_of_a_model_that_is_imported(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shapes.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Count:\n    n: int\n"
    )
    endpoint.replies = [answer(calls("structured_output", n=3), finish="tool_calls")]
    monkeypatch.chdir(tmp_path)
    ended = dsh("run", "Count.", "--output-schema", "shapes:Count")
    assert json.loads(ended.out) == {"n": 3}


def test_without_the_demanded_shape_a_run_fails(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    schema = tmp_path / "answer.json"
    schema.write_text('{"type": "object"}')
    endpoint.replies = [answer(says("Three.")), answer(says("Three, I said."))]
    ended = dsh("run", "Count.", "--output-schema", str(schema))
    assert (ended.status, ended.out) == (1, "")
    assert "dsh: error: no valid call of structured_output" in ended.err


def test_an_answer_that_is_not_whole_is_never_on_standard_output(
    endpoint: FakeEndpoint,
    dsh: Dsh,
) -> None:
    endpoint.replies = [answer(says("Once upon"), finish="max_tokens")]
    ended = dsh("run", "Tell.")
    assert (ended.status, ended.out) == (1, "")
    assert "partial answer:\nOnce upon\n" in ended.err
    assert "dsh: max_tokens" in ended.err


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_answer_that_nobody_reads_any_more_fails_the_run_without_a_traceback(
    endpoint: FakeEndpoint, form: tuple[str, ...]
) -> None:
    endpoint.replies = [answer(says("Forty-two."))]
    with subprocess.Popen(
        [*COMMAND, "run", "What is it?", *form],
        env=environment(endpoint.url),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(60) == 1
    assert "Exception" not in err
    assert "Traceback" not in err


def test_a_timeout_before_the_agent_is_there_aborts_the_run(
    endpoint: FakeEndpoint, dsh: Dsh
) -> None:
    ended = dsh("run", "Hi.", "--timeout", "1e-9")
    assert (ended.status, ended.out) == (1, "")
    assert "dsh: aborted" in ended.err
    assert endpoint.requests == []


def test_a_failing_endpoint_fails_the_run(endpoint: FakeEndpoint, dsh: Dsh) -> None:
    endpoint.replies = [refusal(404, "no such model")]
    ended = dsh("run", "Hi.")
    assert (ended.status, ended.out) == (1, "")
    assert "no such model" in ended.err
    assert "Traceback" not in ended.err


def test_agents_read_the_files_they_are_shown(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    (tmp_path / "hello.txt").write_text("good morning")
    endpoint.replies = [
        answer(calls("read_file", path="hello.txt"), finish="tool_calls"),
        answer(says("It greets.")),
    ]
    ended = dsh("run", "Read.", "--tools", str(tmp_path))
    assert ended.out == "It greets.\n"
    assert "good morning" in endpoint.requests[1]["messages"][-1]["content"]


def test_max_depth_0_offers_nobody_to_delegate_to(endpoint: FakeEndpoint, dsh: Dsh) -> None:
    endpoint.replies = [answer(says("Alone."))]
    dsh("run", "Hi.", "--max-depth", "0")
    assert "tools" not in endpoint.requests[0]


def test_max_depth_1_lets_children_but_no_grandchildren_be_started(
    endpoint: FakeEndpoint,
    dsh: Dsh,
) -> None:
    endpoint.replies = [
        answer(delegates(), finish="tool_calls"),
        answer(says("3")),
        answer(says("There are 3.")),
    ]
    dsh("run", "Count.", "--max-depth", "1")
    assert ["tools" in request for request in endpoint.requests] == [True, False, True]


def test_a_timeout_ends_the_run_as_one(endpoint: FakeEndpoint, dsh: Dsh) -> None:
    endpoint.replies = [answer(says("never"))]
    endpoint.replies[0] = type(endpoint.replies[0])(end="stall")
    ended = dsh("run", "Hi.", "--timeout", "0.5")
    assert ended.status == 1
    assert "dsh: timeout" in ended.err


def test_a_run_can_be_shown_and_checked_from_its_logs(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    logs = str(tmp_path / "logs")
    endpoint.replies = [
        answer(delegates(), finish="tool_calls"),
        answer(says("3")),
        answer(says("There are 3.")),
    ]
    dsh("run", "Count.", "--log", logs)
    shown = dsh("show", logs)
    assert shown.status == 0
    assert "└─ count the files" in shown.out
    assert "completed (1 request, 1 token," in shown.out
    checked = dsh("check", logs)
    assert (checked.status, checked.out.count("ok ")) == (0, 2)


def test_a_fork_is_shown_as_one(endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path) -> None:
    endpoint.replies = [
        answer(delegates(), finish="tool_calls"),
        answer(says("3")),
        answer(says("There are 3.")),
    ]
    ended = dsh("run", "Count.", "--provider", "fork", "--log", str(tmp_path))
    assert "count the files [fork]: completed" in ended.err
    shown = dsh("show", str(tmp_path))
    assert "fork" in shown.out


def test_a_run_whose_log_finds_no_place_says_so_and_fails_though_the_answer_is_whole(
    endpoint: FakeEndpoint, tmp_path: Path
) -> None:
    endpoint.replies = [answer(says("Forty-two."))]
    command = shlex.join([*COMMAND, "run", "What is it?", "--json", "--log", str(tmp_path)])
    ended = subprocess.run(
        ["sh", "-c", f"ulimit -f 0; exec {command}"],
        env=environment(endpoint.url),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert "dsh: 1 log not kept whole: File too large\n" in ended.stderr
    told = json.loads(ended.stdout)
    assert (told["completed"], told["text"]) == (True, "Forty-two.")
    assert list(told["lost"].values()) == ["File too large"]
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_log_folder_is_removed_says_so_and_fails(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"

    async def removes(_: Body) -> Reply:
        logs.rmdir()
        return answer(says("Forty-two."))

    endpoint.answer = removes
    ended = dsh("run", "What is it?", "--log", str(logs))
    assert (ended.status, ended.out) == (1, "Forty-two.\n")
    assert "dsh: 1 log not kept whole: No such file or directory\n" in ended.err


def test_a_log_that_finds_its_place_in_the_end_is_kept(
    endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pwrite, full = os.pwrite, [OSError(errno.ENOSPC, "No space left on device")]

    def once_full(descriptor: int, data: bytes, position: int) -> int:
        if full:
            raise full.pop()
        return pwrite(descriptor, data, position)

    monkeypatch.setattr(os, "pwrite", once_full)
    endpoint.replies = [answer(says("Forty-two."))]
    ended = dsh("run", "What is it?", "--log", str(tmp_path))
    assert (ended.status, full) == (0, [])
    assert "not kept" not in ended.err
    assert dsh("check", str(tmp_path)).status == 0
