"""The command that installs each wheel alone."""

from pathlib import Path

import pytest

from verify_wheels import main


@pytest.mark.wheels
def test_a_package_is_tried_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them are, in `test_release.py`."""
    assert main(["dsh-agent"]) == 0
    assert capsys.readouterr().out == "ok   dsh-agent\n"


@pytest.mark.wheels
def test_the_wheels_that_are_for_others_are_left_in_a_folder(tmp_path: Path) -> None:
    assert main(["--into", str(tmp_path / "wheels")]) == 0
    names = {path.name.split("-")[0] for path in (tmp_path / "wheels").iterdir()}
    assert "dsh_subagent" in names
    assert "dsh_subagent_mock" not in names


def test_an_unknown_package_is_refused_before_anything_is_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["dsh-nothing"])
    assert "no member named dsh-nothing; there are dsh-agent, " in capsys.readouterr().err
