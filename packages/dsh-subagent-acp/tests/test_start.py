"""Starting an agent: the handshake, and every way in which there is none."""

from typing import Any

import pytest
import trio

from dsh.agent import AgentOptions, ImageBlock, TextBlock, ThinkingBlock, ToolFilter
from dsh.subagent import (
    RunStarted,
    SubagentStartCancelledError,
    SubagentStartError,
    UnsupportedCapabilityError,
)
from dsh.subagent_acp import AcpPromptError, AcpStartError

MODELS = [
    {
        "id": "the-model",
        "name": "Model",
        "category": "model",
        "type": "select",
        "currentValue": "small",
        "options": [{"value": "small", "name": "Small"}, {"value": "large", "name": "Large"}],
    }
]
MODE = MODELS[0] | {"id": "the-mode", "name": "Mode", "category": "mode"}
PICTURE = ImageBlock(media_type="image/png", data="aaaa")


async def refused(
    bench: Any, script: dict[str, Any] | None = None, **settings: Any
) -> AcpStartError:
    """The error of a start that fails; nothing was told, and nothing runs."""
    with trio.fail_after(20), pytest.raises(AcpStartError) as caught:
        await bench.run(script, **settings)
    assert not bench.parent.events
    assert not bench.children()
    assert isinstance(caught.value, SubagentStartError)
    return caught.value


@pytest.mark.guarantee("B-ACP-04")
async def test_the_prompt_comes_after_a_plain_handshake(bench: Any) -> None:
    """An agent is offered no capabilities and given one session without servers, then prompted."""
    await bench.run()
    hello, session, prompt = bench.heard()
    capabilities = hello["params"]["clientCapabilities"]
    assert hello["params"]["protocolVersion"] == 1
    assert not capabilities["terminal"]
    assert not any(capabilities["fs"].values())
    assert session["params"]["mcpServers"] == []
    assert [message["method"] for message in (hello, session, prompt)] == [
        "initialize",
        "session/new",
        "session/prompt",
    ]


@pytest.mark.guarantee("B-ACP-02")
async def test_what_no_agent_can_honour_is_refused_before_any_process(bench: Any) -> None:
    """Of the optional fields only a schema is taken; another one is refused before any process."""
    service = bench.service()
    for field in ({"max_depth": 2}, {"tool_filter": ToolFilter()}, {"persona": "terse"}):
        with pytest.raises(UnsupportedCapabilityError):
            await service.start("acp", bench.request(**field))
    assert not bench.heard()


@pytest.mark.field_case("B210")
async def test_a_missing_command_is_named(bench: Any) -> None:
    error = await refused(bench, command="no-such-agent", args=())
    assert error.step == "start"
    assert "no-such-agent" in str(error)


@pytest.mark.field_case("B210")
async def test_an_agent_that_exits_at_once_says_why(bench: Any) -> None:
    error = await refused(bench, {"exit": 3, "complaint": "no configuration found"})
    assert error.step == "initialize"
    assert error.exit_status == "exited with status 3"
    assert str(error).endswith("exited with status 3; it said: no configuration found")


@pytest.mark.field_case("B210")
@pytest.mark.parametrize(("command", "args"), [("sleep", ("100",)), ("yes", ())])
async def test_a_program_that_is_no_agent_is_given_up(bench: Any, command: str, args: Any) -> None:
    error = await refused(bench, command=command, args=args, startup_timeout=0.3, eof_grace=0.2)
    assert error.step == "initialize"
    assert "nothing for 0.3 s (startup_timeout)" in str(error)


@pytest.mark.field_case("B210")
async def test_a_program_that_repeats_what_it_hears_is_no_agent(bench: Any) -> None:
    error = await refused(bench, command="cat", args=())
    assert "no method initialize" in str(error)


@pytest.mark.field_case("B209")
@pytest.mark.guarantee("B-ACP-05")
@pytest.mark.parametrize(
    ("method", "step"), [("initialize", "initialize"), ("session/new", "open")]
)
async def test_an_agent_that_never_answers_is_given_up(bench: Any, method: str, step: str) -> None:
    """A start that takes too long ends the process, then fails with the step that got no answer."""
    error = await refused(bench, {"silent": [method]}, startup_timeout=0.5)
    assert error.step.startswith(step)
    assert "startup_timeout" in str(error)


async def test_the_first_words_of_no_agent_are_repeated(bench: Any) -> None:
    script = {"before": ["Usage: agent [OPTIONS]\n"], "exit": None, "crash": {"initialize": 2}}
    error = await refused(bench, script)
    assert str(error).endswith("it said: Usage: agent [OPTIONS]")


async def test_a_version_we_lack_is_refused(bench: Any) -> None:
    error = await refused(bench, {"version": 2})
    assert "protocol version 2; this client speaks 1" in str(error)


async def test_an_error_in_answer_to_the_handshake_is_repeated(bench: Any) -> None:
    failing = {"code": -32000, "message": "Authentication required", "data": {"hint": "log in"}}
    error = await refused(bench, {"errors": {"session/new": failing}})
    assert 'Authentication required: {"hint": "log in"} (code -32000)' in str(error)


@pytest.mark.parametrize("answer", ['{"protocolVersion": "x"}', "[]", "null"])
async def test_an_answer_that_is_none_is_refused(bench: Any, answer: str) -> None:
    before = [f'{{"jsonrpc": "2.0", "id": 1, "result": {answer}}}\n']
    words = f"read line; printf '%s' '{before[0]}'; cat >/dev/null"
    error = await refused(bench, command="sh", args=("-c", words))
    assert error.step == "initialize"
    assert "no answer to it" in str(error)


async def test_a_session_without_an_id_is_refused(bench: Any) -> None:
    answers = ('{"id": 1, "result": {"protocolVersion": 1}}', '{"id": 2, "result": {}}')
    words = "; ".join(f"read line; printf '%s\\n' '{each}'" for each in answers)
    error = await refused(bench, command="sh", args=("-c", f"{words}; cat >/dev/null"))
    assert error.step == "open a session (session/new)"
    assert "no answer to it" in str(error)


@pytest.mark.guarantee("B-ACP-05", "B-ACP-03")
async def test_a_start_cancelled_during_the_handshake_reports_the_cancel(bench: Any) -> None:
    """A start that is cancelled leaves no process and tells of the cancel, not of a broken pipe."""
    service, request = bench.service({"silent": ["session/new"]}), bench.request()
    async with trio.open_nursery() as nursery:

        async def cancel() -> None:
            await bench.works()
            request.cancel_scope.cancel("no longer wanted")

        nursery.start_soon(cancel)
        with pytest.raises(SubagentStartCancelledError, match="no longer wanted"):
            await service.start("acp", request)
    assert not bench.children()
    assert not bench.parent.heard(RunStarted)
    assert not bench.heard("session/cancel")


@pytest.mark.field_case("B109")
async def test_a_model_the_agent_lacks_is_named_at_once(bench: Any) -> None:
    request = bench.request(agent_options=AgentOptions(model="no/such"))
    with pytest.raises(AcpPromptError, match=r"'no/such' cannot be chosen.*small, large"):
        await bench.run({"options": MODELS}, request=request)
    with pytest.raises(AcpPromptError, match=r"'no/such' cannot be chosen.*no choice"):
        await bench.run(request=bench.request(agent_options=AgentOptions(model="no/such")))
    assert not bench.heard("session/prompt")


async def test_a_model_the_agent_offers_is_chosen(bench: Any) -> None:
    request = bench.request(agent_options=AgentOptions(model="large"))
    assert (await bench.run({"options": [MODE, *MODELS]}, request=request)).completed
    (chosen,) = bench.heard("session/set_config_option")
    assert chosen["params"] == {"sessionId": "s1", "configId": "the-model", "value": "large"}


async def test_other_options_of_a_model_are_refused(bench: Any) -> None:
    for options in (AgentOptions(max_steps=3), AgentOptions(options={"temperature": 1})):
        with pytest.raises(AcpPromptError, match="takes only model"):
            await bench.run(request=bench.request(agent_options=options))
    assert not bench.heard()


async def test_a_block_the_protocol_has_no_form_for_is_refused(bench: Any) -> None:
    prompt = [TextBlock(text="go"), ThinkingBlock(text="hm")]
    with pytest.raises(AcpPromptError, match="ThinkingBlock"):
        await bench.run(request=bench.request(prompt))
    assert not bench.heard()


async def test_a_picture_is_sent_to_an_agent_that_takes_it(bench: Any) -> None:
    prompt = [TextBlock(text="what is this?"), PICTURE]
    with pytest.raises(AcpPromptError, match="takes none"):
        await bench.run(request=bench.request(prompt))
    assert not bench.heard("session/prompt")
    assert (await bench.run({"images": True}, request=bench.request(prompt))).completed
    sent = bench.heard("session/prompt")[0]["params"]["prompt"]
    assert sent[1] == {"type": "image", "mimeType": "image/png", "data": "aaaa"}


@pytest.mark.field_case("B113")
async def test_a_child_that_will_not_end_keeps_nobody_from_starting(bench: Any) -> None:
    stubborn = {"ignore_eof": True, "ignore_term": True, "steps": [{"hang": True}]}
    run = await bench.start(stubborn, eof_grace=0.5, term_grace=0.5)
    await bench.works()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run.aclose)
        assert (await bench.run()).completed
    assert (await run.result()).stop_reason == "aborted"
