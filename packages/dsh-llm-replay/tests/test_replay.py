"""Recording a model, and replaying what was recorded."""

import json
import resource
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trio
import trio.testing

from dsh.agent import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Delta,
    Message,
    ModelError,
    OnDelta,
    SessionId,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolCallBlock,
    ToolSchema,
    Usage,
    discover_models,
)
from dsh.agent.testing import ScriptedModel, hang, say
from dsh.llm_replay import (
    RecordingError,
    RecordingModel,
    ReplayConfig,
    ReplayError,
    ReplayModel,
    model_factory,
)

ANSWER = ChatResponse(
    content=(
        ThinkingBlock(text="hm\ud800\u2028", signature="s"),
        ToolCallBlock(id="a", name="look", arguments='{"n": 2512292042121000001}'),
    ),
    finish_reason="tool_calls",
    usage=Usage(input_tokens=3, cache_read_tokens=4),
    retries=1,
)
TOOL = ToolSchema(name="look", description="Looks.", parameters={"type": "object"})


def user(text: str) -> Message:
    return Message(role="user", content=(TextBlock(text=text),))


def request(*texts: str, session: str = "one", **fields: object) -> ChatRequest:
    made = ChatRequest(
        model="m",
        messages=tuple(user(text) for text in texts),
        session_id=SessionId(session),
        system="You look.",
        tools=(TOOL,),
        options={"temperature": 0.5},
    )
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


async def ask(model: ChatModel, asking: ChatRequest, heard: list[Delta] | None = None) -> object:
    return await model.generate(asking, on_delta=([] if heard is None else heard).append)


async def record(path: Path, model: ChatModel, *requests: ChatRequest) -> Path:
    async with RecordingModel(model, path) as recorder:
        for each in requests:
            await ask(recorder, each)
    return path


async def test_an_answer_is_replayed_as_it_was_with_its_deltas(tmp_path: Path) -> None:
    path = await record(
        tmp_path / "r", ScriptedModel(ANSWER, say("so")), request("a"), request("a", "b")
    )
    replay = ReplayModel(path)
    heard: list[Delta] = []
    assert await ask(replay, request("a"), heard) == ANSWER
    assert heard == [ThinkingDelta(text="hm\ud800\u2028")]
    assert await ask(replay, request("a", "b")) == say("so")
    replay.check()


@pytest.mark.guarantee("B-LLM-11")
async def test_sessions_are_told_by_their_order_and_requests_by_their_number(
    tmp_path: Path,
) -> None:
    """A recorded session answers one session of the replay, request by request, whatever its id."""
    script = ScriptedModel(say("1"), say("2"), say("3"), say("4"))
    requests = [request("a"), request("a", session="two"), request("a", "b", session="two")]
    path = await record(tmp_path / "r", script, *requests, request("a", "b"))
    replay = ReplayModel(path)
    assert await ask(replay, request("a", session="x")) == say("1")
    assert await ask(replay, request("a", session="y")) == say("2")
    assert await ask(replay, request("a", "b", session="x")) == say("4")
    assert await ask(replay, request("a", "b", session="y")) == say("3")


async def test_children_that_begin_in_another_order_find_their_own_script(tmp_path: Path) -> None:
    script = ScriptedModel(say("parent"), say("for a"), say("for b"))
    first = (request("p"), request("a", session="two"), request("b", session="three"))
    replay = ReplayModel(await record(tmp_path / "r", script, *first))
    assert await ask(replay, request("p")) == say("parent")
    assert await ask(replay, request("b", session="three")) == say("for b")
    assert await ask(replay, request("a", session="two")) == say("for a")


async def test_a_seeded_childs_script_begins_with_its_own_request(tmp_path: Path) -> None:
    script = ScriptedModel(say("1"), say("2"), say("3"))
    parent = (request("a"), request("a", "b"))
    path = await record(tmp_path / "r", script, *parent, request("a", "b", "c", session="child"))
    replay = ReplayModel(path)
    assert await ask(replay, request("a", "b", "c", session="child")) == say("3")


async def test_a_request_beyond_the_recording_is_an_error(tmp_path: Path) -> None:
    replay = ReplayModel(await record(tmp_path / "r", ScriptedModel(say("1")), request("a")))
    await ask(replay, request("a"))
    with pytest.raises(ReplayError, match="session 1 is over after request 1") as caught:
        await ask(replay, request("a", "b"))
    assert caught.value.code == "EXHAUSTED"
    with pytest.raises(ReplayError, match="its sessions are 1, and this is one more"):
        await ask(replay, request("a", session="two"))


@pytest.mark.parametrize(
    ("asking", "difference"),
    [
        (request("b"), "messages[0].content[0].text: recorded 'a', asked 'b'"),
        (request("a", "b"), "messages[1]: recorded nothing, asked {"),
        (request("a", system=None), "system: recorded 'You look.', asked nothing"),
        (request("a", model="n"), "model: recorded 'm', asked 'n'"),
        (request("a", tools=None), "tools: recorded [{"),
        (request("a", tool_choice="required"), "tool_choice: recorded nothing, asked 'required'"),
        (request("a", options={"temperature": 1}), "options.temperature: recorded 0.5, asked 1"),
    ],
)
async def test_another_request_is_an_error_that_shows_the_first_difference(
    tmp_path: Path, asking: ChatRequest, difference: str
) -> None:
    replay = ReplayModel(await record(tmp_path / "r", ScriptedModel(say("1")), request("a")))
    with pytest.raises(ReplayError) as caught:
        await ask(replay, asking)
    assert caught.value.code == "DIFFERENT_REQUEST"
    assert f"request 1 of session 1 was another one: {difference}" in str(caught.value)
    assert len(str(caught.value)) < 600


async def test_a_later_request_that_is_another_one_is_named_by_its_number(tmp_path: Path) -> None:
    script = ScriptedModel(say("1"), say("2"))
    replay = ReplayModel(await record(tmp_path / "r", script, request("a"), request("a", "b")))
    await ask(replay, request("a"))
    with pytest.raises(ReplayError, match="request 2 of session 1 was another one") as caught:
        await ask(replay, request("a", "c"))
    assert caught.value.code == "DIFFERENT_REQUEST"
    assert "recorded 'b', asked 'c'" in str(caught.value)


async def test_of_a_long_text_the_place_where_it_differs_is_shown(tmp_path: Path) -> None:
    long = "a" * 500
    replay = ReplayModel(await record(tmp_path / "r", ScriptedModel(say("1")), request(long)))
    with pytest.raises(ReplayError, match=r"recorded …'a{20}', asked …'a{20}x'$"):
        await ask(replay, request(long + "x"))


async def test_a_failure_is_replayed(tmp_path: Path) -> None:
    error = ModelError("busy", code="RATE_LIMIT", response=say("half"))
    async with RecordingModel(ScriptedModel(error, say("ok")), tmp_path / "r") as recorder:
        with pytest.raises(ModelError, match="busy"):
            await ask(recorder, request("a"))
        await ask(recorder, request("a"))
    replay = ReplayModel(tmp_path / "r")
    with pytest.raises(ModelError, match="busy") as caught:
        await ask(replay, request("a"))
    assert (caught.value.code, caught.value.response) == ("RATE_LIMIT", say("half"))
    assert await ask(replay, request("a")) == say("ok")


async def test_a_cancelled_request_waits_to_be_cancelled_again(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    async with RecordingModel(ScriptedModel(hang("Hel")), tmp_path / "r") as recorder:
        with trio.move_on_after(3):
            await ask(recorder, request("a"))
    heard: list[Delta] = []
    with trio.move_on_after(7) as scope:
        await ask(ReplayModel(tmp_path / "r"), request("a"), heard)
    assert scope.cancelled_caught
    assert heard == [TextDelta(text="Hel")]


async def test_what_is_left_over_is_told(tmp_path: Path) -> None:
    script = ScriptedModel(say("1"), say("2"))
    replay = ReplayModel(await record(tmp_path / "r", script, request("a"), request("a", "b")))
    await ask(replay, request("a"))
    with pytest.raises(ReplayError, match=r"never made \(session 1: 1 of 2\)"):
        replay.check()


async def test_a_recording_grows_with_the_conversation_only(tmp_path: Path) -> None:
    texts = [f"{n} " + "x" * 1000 for n in range(30)]
    requests = [request(*texts[: n + 1]) for n in range(30)]
    path = await record(tmp_path / "r", ScriptedModel(*[say("ok")] * 30), *requests)
    assert path.stat().st_size < 40_000
    replay = ReplayModel(path)
    for each in requests:
        await ask(replay, each)
    replay.check()


async def test_a_request_without_tools_is_not_one_with_an_empty_list(tmp_path: Path) -> None:
    path = await record(tmp_path / "r", ScriptedModel(say("1")), request("a", tools=()))
    with pytest.raises(ReplayError, match=r"tools: recorded .*, asked nothing"):
        await ask(ReplayModel(path), request("a", tools=None))


async def test_a_file_that_exists_is_not_overwritten(tmp_path: Path) -> None:
    path = await record(tmp_path / "r", ScriptedModel())
    with pytest.raises(RecordingError, match="File exists"):
        await record(path, ScriptedModel())


async def test_a_recorder_that_is_not_open_says_so_before_the_model_is_asked(
    tmp_path: Path,
) -> None:
    recorder = RecordingModel(ScriptedModel(say("1")), tmp_path / "r")
    with pytest.raises(RecordingError, match="not open"):
        await ask(recorder, request("a"))
    async with recorder:
        assert await ask(recorder, request("a")) == say("1")
    assert await ask(ReplayModel(tmp_path / "r"), request("a")) == say("1")


class Broken:
    """A model with a bug."""

    async def generate(self, request: ChatRequest, *, on_delta: object) -> ChatResponse:
        await trio.lowlevel.checkpoint()
        raise KeyError("sk-0123456789")


async def test_a_bug_of_the_model_is_replayed_as_a_failure_and_not_waited_for(
    tmp_path: Path,
) -> None:
    async with RecordingModel(Broken(), tmp_path / "r") as recorder:
        with pytest.raises(KeyError):
            await ask(recorder, request("a"))
    with pytest.raises(ModelError, match="the model raised KeyError") as caught:
        await ask(ReplayModel(tmp_path / "r"), request("a"))
    assert caught.value.code == "UNKNOWN"
    assert "sk-0123456789" not in (tmp_path / "r").read_text()


@contextmanager
def no_file_above(size: int) -> Generator[None]:
    """As on a full disk: no file may become longer than that many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


async def test_a_recording_that_cannot_be_written_ends_there_and_says_so(tmp_path: Path) -> None:
    long = say("x" * 5_000)
    recorder = RecordingModel(ScriptedModel(say("1"), long, say("3")), tmp_path / "r")
    async with recorder:
        await ask(recorder, request("a"))
        with no_file_above(2_000), pytest.raises(RecordingError, match="File too large"):
            await ask(recorder, request("a", "b"))
        with pytest.raises(RecordingError, match="not open"):
            await ask(recorder, request("a", "b"))
    with pytest.raises(RecordingError, match="r:3: "):
        ReplayModel(tmp_path / "r")


class Gated:
    """Answers the request for "a" when told to, any other at once and at length."""

    def __init__(self) -> None:
        self.gate = trio.Event()

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        if request.messages == (user("a"),):
            await self.gate.wait()
            return say("late")
        return say("x" * 5_000)


async def test_a_request_under_way_when_the_recording_ended_is_answered_all_the_same(
    tmp_path: Path,
) -> None:
    model, answers = Gated(), list[object]()

    async def slow() -> None:
        answers.append(await ask(recorder, request("a")))

    async with RecordingModel(model, tmp_path / "r") as recorder, trio.open_nursery() as nursery:
        nursery.start_soon(slow)
        await trio.testing.wait_all_tasks_blocked()
        with no_file_above(2_000), pytest.raises(RecordingError, match="File too large"):
            await ask(recorder, request("b", session="two"))
        model.gate.set()
    assert answers == [say("late")]
    assert b"late" not in (tmp_path / "r").read_bytes()


def test_a_path_that_cannot_be_is_refused() -> None:
    with pytest.raises(RecordingError, match="null byte"):
        ReplayModel(Path("a\0b"))


LINE = '{"session":0,"number":0,"asked":{"rest":{"model":"m"}},"answer":{"content":[]}}'


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file"),
        ("", ":1: is no recording"),
        ('{"type":"recording","version":2}\n', ":1: is no recording, or one of another version"),
        ('{"type":"recording","version":1}\n{', ":2: "),
        ('{"type":"recording","version":1}\n{"session":"x"}\n', ":2: call.session is a str"),
        (f'{{"type":"recording","version":1}}\n{LINE}\n{LINE}\n', "does not follow"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_line(
    tmp_path: Path, content: str | None, problem: str
) -> None:
    path = tmp_path / "r"
    if content is not None:
        path.write_text(content)
    with pytest.raises(RecordingError, match=problem):
        ReplayModel(path)


async def test_a_host_finds_it_and_makes_it_from_settings(tmp_path: Path) -> None:
    path = await record(tmp_path / "r", ScriptedModel(say("1")), request("a"))
    assert discover_models()["replay"].load() is model_factory
    config = model_factory.config_model.model_validate({"path": str(path)})
    assert config == ReplayConfig(path=path)
    async with model_factory.create("m", config) as model:
        assert await ask(model, request("a")) == say("1")


async def test_lines_are_plain_json(tmp_path: Path) -> None:
    path = await record(tmp_path / "r", ScriptedModel(say("grüß \u2028")), request("a"))
    assert path.read_bytes().isascii()
    assert [json.loads(line)["type"] for line in path.read_text().splitlines()[:1]] == ["recording"]


async def test_a_recorder_may_be_left_twice(tmp_path: Path) -> None:
    recorder = RecordingModel(ScriptedModel(say("1")), tmp_path / "r")
    async with recorder:
        await recorder.__aexit__(None, None, None)
    with pytest.raises(RecordingError, match="not open"):
        await ask(recorder, request("a"))
