"""What a person is told of an agent's own backend that fails."""

from contextlib import nullcontext
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import trio

from dsh.agent import Plugin
from dsh.agent.testing import ScriptedModel
from dsh.cli._asking import Asking
from dsh.cli._composition import AGENT_PROVIDER, Parts
from dsh.cli._provider_choice import ProviderChoice
from dsh.cli._running import ask

FAILING = """
from types import SimpleNamespace
from dsh.subagent.testing import ScriptedProvider, fail

config_model = SimpleNamespace

def create(*_):
    return ScriptedProvider(fail(LookupError("lost the disk")), name="spawn")
"""


class Scripted:
    """A model that needs no choosing."""

    name = shown = "scripted"

    def open(self) -> Any:
        return nullcontext(ScriptedModel())


def test_a_backend_that_fails_after_the_start_fails_the_run_with_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "failing_plugin.py").write_text(FAILING)
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - of pytest
    group = "dsh.subagent_providers"
    plugin: Plugin[Any] = Plugin(
        name=AGENT_PROVIDER,
        group=group,
        entries=(EntryPoint(AGENT_PROVIDER, "failing_plugin", group),),
        check=lambda found: found,
    )
    chosen = ProviderChoice(plugin=plugin, name=AGENT_PROVIDER)
    parts = Parts(model=Scripted(), providers=(chosen,), delegation=())
    assert trio.run(ask, parts, Asking(prompt="hi")) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "dsh: error: " in err
    assert "LookupError: lost the disk" in err
