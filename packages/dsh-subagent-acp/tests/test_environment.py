"""What an agent finds around itself: variables, a working directory, a configuration."""

import json
import logging
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from dsh.subagent import TextProgress
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_acp import AcpStartError
from dsh.subagent_acp._directories import config_directory, unusable
from dsh.subagent_acp._environment import child_environment, redacted, secrets_of


@pytest.mark.guarantee("B-PROC-01")
def test_what_is_called_like_a_credential_stays_behind() -> None:
    """An agent gets the ambient variables without credentials, and what it is given on top."""
    ambient = {"PATH": "/bin", "MY_API_KEY": "1", "a_token": "2", "Secret": "3", "monkey": "4"}
    extra = {"OTHER_KEY": "named", "PATH": "/opt"}
    assert child_environment(ambient, extra, inherit=True) == {"PATH": "/opt", "OTHER_KEY": "named"}


@pytest.mark.field_case("B224")
def test_nothing_is_inherited_but_what_the_platform_needs() -> None:
    ambient = {"PATH": "/bin", "HOME": "/root", "LANG": "C", "EDITOR": "vi", "A_SECRET": "1"}
    kept = child_environment(ambient, {}, inherit=False)
    assert kept == {"PATH": "/bin", "HOME": "/root", "LANG": "C"}


@pytest.mark.field_case("B223")
@pytest.mark.field_case("B224")
async def test_a_real_agent_sees_only_the_credential_it_was_given(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET", "ambient")
    result = await bench.turn({"env": ["A_SECRET", "X_KEY"]}, env={"X_KEY": "given"})
    assert json.loads(result.text) == {"A_SECRET": None, "X_KEY": "given"}


@pytest.mark.field_case("B223")
async def test_a_given_credential_is_in_no_message(
    bench: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    env, complaint = {"X_KEY": "very-private"}, {"complaint": "401 for ", "complain_of": "X_KEY"}
    config = bench.config(env=env)
    with pytest.raises(AcpStartError, match=r"401 for \*\*\*") as caught:
        await bench.run({"exit": 1} | complaint, env=env)
    failing = complaint | {"crash": {"session/prompt": 1}}
    result = await bench.run(failing, env=env)
    told = f"{caught.value}{result}{caplog.text}{config!r}{bench.parent.heard(TextProgress)}"
    assert "very-private" not in told
    assert "401 for ***" in (result.detail or "")


PRIVATE = "opensesame-swordfish"


@pytest.mark.field_case("B223")
@pytest.mark.parametrize(
    "script",
    [
        {"steps": [{"error": {"code": 401, "message": f"no such key: {PRIVATE}"}}]},
        {"steps": [{"error": {"code": 401, "message": "no", "data": {"key": PRIVATE}}}]},
        {"steps": [{"error": {"code": 401, "message": "x" * 285 + PRIVATE}}]},
        {"steps": [{"result": {"stopReason": PRIVATE}}]},
        {"steps": [{"raw": "x" * 190 + PRIVATE + "\n"}, {"exit": 1}]},
        {"errors": {"session/new": {"code": 401, "message": f"no such key: {PRIVATE}"}}},
        {"errors": {"session/new": {"code": 401, "message": "x" * 285 + PRIVATE}}},
        {"before": ["x" * 190 + PRIVATE + "\n"], "exit": 1},
        {"crash": {"initialize": 1}, "complaint": PRIVATE},
    ],
)
async def test_a_credential_is_in_no_message_however_it_is_told(
    bench: Any, caplog: pytest.LogCaptureFixture, script: dict[str, Any]
) -> None:
    """Neither whole nor in half: not in a result, an error, its causes or a log."""
    caplog.set_level(logging.DEBUG)
    try:
        told = repr(await bench.run(script, env={"X_KEY": PRIVATE}))
    except AcpStartError as exc:
        told = f"{exc!r}{exc.command}{exc.__cause__!r}"
    assert "***" in told or "xxxx" in told
    for part in (PRIVATE[:8], PRIVATE[-8:]):
        assert part not in told + caplog.text


@pytest.mark.parametrize("command", ["/no/such/program", sys.executable])
@pytest.mark.parametrize("cwd", [None, Path("/no/such/place")])
async def test_a_credential_among_the_arguments_is_in_no_refusal(
    bench: Any, command: str, cwd: Path | None
) -> None:
    args = ("-c", "exit(1)", f"--key={PRIVATE}")
    with pytest.raises(AcpStartError) as caught:
        await bench.run(command=command, args=args, cwd=cwd, env={"X_KEY": PRIVATE})
    assert "--key=***" in str(caught.value)
    assert PRIVATE not in f"{caught.value}{caught.value.command}{caught.value.__cause__!r}"


async def test_an_agent_gets_its_three_streams_and_no_other_file(bench: Any) -> None:
    reading, writing = os.pipe()
    try:
        os.set_inheritable(writing, True)
        assert json.loads((await bench.turn({"files": 256})).text) == [0, 1, 2]
    finally:
        os.close(reading)
        os.close(writing)


def test_short_values_are_not_blacked_out() -> None:
    assert secrets_of({"A_KEY": "1", "B_KEY": "long enough", "PLAIN": "visible"}) == (
        "long enough",
    )
    assert redacted("1 long enough", ("long enough",)) == "1 ***"


@pytest.mark.guarantee("B-HEAD-19", "B-ACP-15")
async def test_an_agent_works_where_its_parent_does(bench: Any) -> None:
    """The child's working directory is its parent's, and nothing else of the parent reaches it."""
    result = await bench.turn({"cwd": True})
    assert result.text == os.path.realpath(bench.folder)  # noqa: ASYNC240 - a test has time
    assert bench.heard("session/new")[0]["params"]["cwd"] == str(bench.folder)


async def test_a_configured_directory_has_precedence(bench: Any) -> None:
    there = bench.folder / "there"
    there.mkdir()
    result = await bench.turn({"cwd": True}, cwd=there)
    assert result.text == os.path.realpath(there)  # noqa: ASYNC240 - a test has time


@pytest.mark.guarantee("B-HEAD-19")
@pytest.mark.parametrize(
    ("cwd", "problem"),
    [("relative", "absolute"), ("/no/such/place", "existing"), (__file__, "dir")],
)
async def test_a_directory_nobody_can_work_in_is_refused(
    bench: Any, cwd: str, problem: str
) -> None:
    """A working directory that is relative, missing or a file is refused before any process."""
    async with ScriptedParent(cwd=cwd) as parent:
        request = bench.request(parent=parent)
        with pytest.raises(AcpStartError, match=problem) as caught:
            await bench.run(request=request)
    assert caught.value.step == "enter its working directory"
    assert not bench.heard()


def test_a_directory_that_may_not_be_entered_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def access(*_: object) -> bool:
        return False  # for root there is no such directory

    monkeypatch.setattr(os, "access", access)
    assert unusable(str(tmp_path)) == f"{str(tmp_path)!r} cannot be entered"


@pytest.mark.guarantee("B-PROC-10")
def test_an_isolated_configuration_is_private_fresh_and_removed() -> None:
    """Each isolated configuration directory is new, for this user alone, and removed with all in
    it, also when it is gone already."""
    with config_directory("isolated") as one, config_directory("isolated") as two:
        assert one is not None
        assert two is not None
        assert one != two
        assert stat.S_IMODE(Path(one).stat().st_mode) == 0o700
        (Path(one) / "deep").mkdir()
        (Path(one) / "deep" / "file").write_text("x")
        Path(two).rmdir()
    assert not Path(one).exists()


@pytest.mark.guarantee("B-PROC-11")
def test_a_pinned_configuration_is_left_alone(tmp_path: Path) -> None:
    """A configuration directory given by path is neither made nor removed."""
    pinned = tmp_path / "pinned"
    with config_directory(pinned) as given:
        assert given == str(pinned)
        assert not pinned.exists()
    pinned.mkdir()
    with config_directory(pinned):
        pass
    assert pinned.is_dir()


async def test_the_agent_is_told_of_its_configuration(bench: Any) -> None:
    settings = {"config_dir": "isolated", "config_dir_variables": ("AGENT_HOME",)}
    result = await bench.turn({"env": ["AGENT_HOME"]}, **settings)
    told = json.loads(result.text)["AGENT_HOME"]
    assert told
    assert os.path.basename(told) not in os.listdir(os.path.dirname(told))
