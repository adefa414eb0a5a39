"""Backends and models that others install, broken ones included."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsh.cli import main
from dsh.cli._model_choice import ModelChoice, choose_model
from dsh.cli._provider_choice import choose_provider
from dsh.subagent_acp import AcpConfig

NEEDY = """
from pydantic import BaseModel

class Settings(BaseModel):
    region: str

class factory:
    config_model = Settings

    @staticmethod
    def create(*_):
        raise AssertionError("made without its settings")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Have a distribution with one plugin installed."""

    def install(group: str, name: str, target: str) -> None:
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")

    (tmp_path / "needy_plugin.py").write_text(NEEDY)
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType] - of pytest
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    return install


def test_a_backend_that_is_broken_is_listed_with_what_is_wrong(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("dsh.subagent_providers", "broken", "nowhere_to_be_found:factory")
    assert main(["providers"]) == 0
    out = capsys.readouterr().out
    _, _, broken = out.partition("broken  broken 1.0\n")
    missing, unusable, *_ = broken.splitlines()
    assert missing.startswith("  missing: plugin 'broken' of dsh.subagent_providers (broken 1.0)")
    assert unusable.startswith("  cannot be used: ")
    assert unusable.endswith("No module named 'nowhere_to_be_found'")


def test_a_backend_with_a_setting_that_cannot_be_given_is_refused(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("dsh.subagent_providers", "needy", "needy_plugin:factory")
    assert main(["run", "hi", "--provider", "needy"]) == 2
    assert capsys.readouterr().err == "dsh run: --provider: 'needy' cannot do without region\n"


def test_a_model_with_a_setting_that_cannot_be_given_is_refused(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("dsh.models", "needy", "needy_plugin:factory")
    assert main(["run", "hi", "--model", "needy:m"]) == 2
    assert capsys.readouterr().err == "dsh run: --model: 'needy:m': region: Field required\n"


def test_a_recording_is_a_model_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.touch()
    assert choose_model(f"replay:{path}", {}) == ModelChoice(
        plugin="replay", name="talk.jsonl", settings={"path": path}, shown=f"replay:{path}"
    )


def test_an_agent_that_is_known_is_given_its_own_credentials_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "codex-acp").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    chosen = choose_provider("acp:codex", {"CODEX_API_KEY": "k", "ANTHROPIC_API_KEY": "other"})
    config: Any = chosen.config
    assert isinstance(config, AcpConfig)
    assert (chosen.name, config.command) == ("acp:codex", "codex-acp")
    assert dict(config.env) == {"CODEX_API_KEY": "k"}


def test_what_is_not_installed_is_said_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dsh.cli._models.discover_models", dict)
    assert main(["models"]) == 0
    assert "replay:FILE  not installed\n" in capsys.readouterr().out
