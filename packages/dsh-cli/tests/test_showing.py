"""What is read back from the logs of a finished run."""

import inspect
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dsh.agent import (
    AssistantMessage,
    CustomEvent,
    ImageBlock,
    Message,
    PartialMessage,
    PromptBlocked,
    SessionEvent,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    Usage,
)
from dsh.cli import main
from dsh.cli._history import read_delegations
from dsh.cli._logs import read_logs


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    capsys.readouterr()
    assert main(["show", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def rows(text: str) -> list[str]:
    """The lines of the table, without its header."""
    return [" ".join(line.split()) for line in text.partition("\n\n")[0].splitlines()[1:]]


@pytest.mark.field_case("B177")
def test_the_tree_is_read_back_from_logs_alone(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    log("c", log.turn("go deeper", "3", at=1_400), parent="b")
    log("b", log.turn("go", "3", log.started("c", "deep"), log.ended("c"), at=1_200), parent="a")
    logs = log("a", log.turn("Count.", "Three.", log.started("b", "deeper"), log.ended("b")))
    assert rows(shown(capsys, logs)) == [
        "Count. ? completed 3 15 1.5",
        "└─ deeper spawn completed 2 10 1.0",
        "└─ deep spawn completed 1 5 0.8",
    ]


def test_a_fork_nobody_labelled_is_called_by_its_task(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    began, asked, *rest = log.turn("Count them.", "3")
    note = TextBlock(text="Everything above is background.")
    message = replace(asked.message, content=(note, *asked.message.content))
    logs = log("a", [began, replace(asked, message=message), *rest])
    assert rows(shown(capsys, logs)) == ["Count them. ? completed 1 5 1.5"]


def test_a_child_without_a_log_is_known_by_what_its_parent_wrote_down(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = {"input_tokens": 40, "output_tokens": 2}
    end = log.ended("x", "refusal", detail="would not", usage=usage, model_requests=4, tool_calls=1)
    logs = log("a", log.turn("Count.", "Three.", log.started("x", "outside", "acp"), end))
    found = shown(capsys, logs)
    assert rows(found)[1] == "└─ outside acp refusal 4 42 1.0"
    assert "refusal: would not (4 requests, 42 tokens, 1.0 s)" in found


def test_a_child_without_a_log_or_an_end_is_shown_as_interrupted(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("a", log.turn("Count.", "Three.", log.started("x", "outside", "acp")))
    assert rows(shown(capsys, logs))[1].split()[:4] == ["└─", "outside", "acp", "interrupted"]


def test_what_others_wrote_into_a_log_is_passed_over(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    foreign = CustomEvent(kind="elsewhere/run-started", data={"child": "x"}, time=1_200)
    logs = log("a", log.turn("Count.", "Three.", foreign))
    assert rows(shown(capsys, logs)) == ["Count. ? completed 1 5 1.5"]


def test_a_run_that_was_cut_off_is_shown_as_interrupted(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    cut: list[SessionEvent] = log.turn("Count.", "Three.", log.started("b", "part"))[:-2]
    log("b", [TurnStarted(turn=1, time=1_300)], parent="a")
    logs = log("a", cut)
    assert [row.split()[-4] for row in rows(shown(capsys, logs))] == ["interrupted"] * 2


def test_two_runs_in_one_directory_are_two_trees(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    log("a", log.turn("First.", "1"))
    logs = log("b", log.turn("Second.", "2", at=5_000))
    assert [row.split()[0] for row in rows(shown(capsys, logs))] == ["First.", "Second."]


def test_a_conversation_is_chosen_by_the_beginning_of_its_id(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    log("abc", log.turn("First.", "1"))
    logs = log("xyz", log.turn("Second.", "2"))
    said = shown(capsys, logs, "--session", "x")
    assert said == "user: Second.\nassistant: 2\nend: turn 1 completed\n"


def test_a_conversation_shows_all_that_was_said_thought_called_and_cut_off(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ToolCallBlock(id="c", name="look", arguments='{"at": 1}')
    image = ImageBlock(media_type="image/png", data="AAAA")
    told = ToolResultBlock(call_id="c", content=(TextBlock(text="nothing"), image), is_error=True)
    thought = Message(
        role="assistant", content=(ThinkingBlock(text="hm"), TextBlock(text=""), call)
    )
    events: list[SessionEvent] = [
        PromptBlocked(message=Message(role="user", content=(TextBlock(text="x"),)), reason="no"),
        AssistantMessage(message=thought, finish_reason="tool_calls", usage=Usage()),
        ToolResulted(result=told),
        PartialMessage(text="so f"),
        TurnEnded(turn=1, reason="error", detail="lost"),
    ]
    logs = log("a", [TurnStarted(turn=1), *events])
    assert shown(capsys, logs, "--session", "a").splitlines() == [
        "blocked: no",
        "thought: hm",
        'call: look {"at": 1}',
        "failure: nothing(an image)",
        "assistant (cut off): so f",
        "end: turn 1 error: lost",
    ]


def test_what_a_run_said_before_it_was_cut_off_is_its_text(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    ended_elsewhere = log.ended("never started here")
    logs = log("a", [TurnStarted(turn=1), ended_elsewhere, PartialMessage(text="so f")])
    assert "interrupted" in shown(capsys, logs)
    (root,) = read_delegations(read_logs(str(logs)))
    assert (root.label, root.text, root.children) == ("", "so f", [])


def test_a_models_words_cannot_steer_the_terminal(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("a", log.turn("hi", "\x1b[2J\x9b1mgone \u202eback [bold]loud[/bold]"))
    for arguments in ([logs], [logs, "--session", "a"]):
        found = shown(capsys, *arguments)
        assert "\\x1b[2J\\x9b1mgone \\u202eback [bold]loud[/bold]" in found


def test_names_in_logs_cannot_steer_the_terminal(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b[2J"
    within = (log.started(f"c{evil}", "part", f"on{evil}"), log.ended(f"c{evil}", f"end{evil}"))
    logs = log("a", log.turn("hi", "ho", *within))
    (logs / "a.jsonl").rename(logs / f"{evil}.jsonl")
    assert main(["check", str(logs)]) == 0
    checked = capsys.readouterr().out
    assert "\\x1b[2J.jsonl: 8 events" in checked
    assert "\x1b" not in checked + shown(capsys, logs)


def test_children_of_any_depth_are_shown_with_what_they_cost_above(
    log: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    depth = 300
    logs = log("0", log.turn("Level 0.", "3"))
    for number in range(1, depth):
        log(str(number), log.turn(f"Level {number}.", "3"), parent=str(number - 1))
    page = tmp_path / "page.html"
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + depth - 100)
    try:
        found = shown(capsys, logs)
        shown(capsys, logs, "--html", page)
    finally:
        sys.setrecursionlimit(before)
    assert rows(found)[0] == f"Level 0. ? completed {depth} {5 * depth:,} 1.5"
    assert f"Level {depth - 1}.  agent {depth - 1}\n" in found
    text = page.read_text()
    assert text.count("<ul") == text.count("</ul>") == depth
    assert text.count("<li>") == text.count("</li>") == depth


@pytest.mark.parametrize("width", [20, 36, 50, 80, 200])
def test_no_line_of_the_tree_is_wider_than_the_terminal(
    width: int, log: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    log("b", log.turn("go", "3"), parent="a")
    logs = log("a", log.turn("Count everything. " * 5, "3", log.started("b", "a part of it all")))
    table = shown(capsys, logs).partition("\n\n")[0].splitlines()
    assert len(table) == 3
    assert all(len(line) <= width for line in table)


def test_the_page_is_whole_and_says_everything(
    log: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log("b", log.turn("go", "three & more"), parent="a")
    logs = log(
        "a", log.turn("<script>alert(1)</script>", "3", log.started("b", "part"), log.ended("b"))
    )
    page = tmp_path / "page.html"
    shown(capsys, logs, "--html", page)
    text = page.read_text()
    assert "three &amp; more" in text
    assert text.count('class="bar"') == 2
    assert "<script" not in text
    assert not any(word in text for word in ("http:", "https:", "src=", "@import", "url("))


def test_check_notes_what_was_interrupted_and_accepts_it(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("a", log.turn("hi", "ho")[:-1])
    with (logs / "a.jsonl").open("ab") as file:
        file.write(b'{"seq":6,"ti')
    assert main(["check", str(logs)]) == 0
    assert "5 events, turn 1 was interrupted, a torn last line of 12 bytes" in (
        capsys.readouterr().out
    )


def test_check_names_the_event_that_breaks_a_rule(
    log: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = log("a", [TurnStarted(turn=1), TurnStarted(turn=2)])
    assert main(["check", str(logs)]) == 1
    assert "FAIL a.jsonl: event 1: turn 2 starts while turn 1 is open" in capsys.readouterr().out


def test_logs_that_descend_from_each_other_are_all_shown(
    log: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log("a", log.turn("One.", "1"), parent="a")
    log("b", log.turn("Two.", "2"), parent="c")
    log("c", log.turn("Three.", "3"), parent="b")
    log("d", log.turn("Four.", "4"), parent="c")
    directory = log("e", log.turn("Five.", "5"), parent="e")
    assert main(["show", str(directory)]) == 0
    out = capsys.readouterr().out
    assert all(prompt in out for prompt in ("One.", "Two.", "Three.", "Four.", "Five."))
    assert main(["show", str(directory), "--html", str(tmp_path / "page.html")]) == 0
