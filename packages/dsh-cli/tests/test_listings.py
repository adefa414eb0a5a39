"""What the command says is installed, and how the command itself starts."""

import subprocess
import sys

import pytest

from dsh.cli import main


def test_models_say_what_is_missing_and_what_is_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-shown")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    kinds = ("anthropic:NAME", "openai:NAME", "deepseek:NAME", "replay:FILE")
    assert all(kind in out for kind in kinds)
    assert "missing: set ANTHROPIC_API_KEY" in out
    assert "ready: OPENAI_API_KEY is set" in out
    assert "address: http://127.0.0.1:9, as OPENAI_BASE_URL says" in out
    assert "sk-never-shown" not in out


def test_a_setting_that_the_command_makes_is_shown_as_it_makes_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["models"]) == 0
    openai = capsys.readouterr().out.partition("openai:NAME")[2].partition("deepseek:NAME")[0]
    assert "base_url ('https://api.openai.com/v1'): " in openai
    assert "api_key_env ('OPENAI_API_KEY'): " in openai
    assert "max_tokens_field ('max_completion_tokens'): " in openai


def test_providers_say_what_they_honour(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["providers"]) == 0
    out = capsys.readouterr().out
    assert "honours: output_schema, depth_limit, tool_filter, persona" in out
    assert "children know the conversation of who asks" in out
    assert "structured_nudge_retries (1): " in out


def test_help_needs_none_of_the_family() -> None:
    program = (
        "import sys\nfrom dsh.cli import main\n"
        "try:\n    main(['run', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'trio', 'pydantic', 'rich', 'dsh.agent'} & sys.modules.keys()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.endswith("\n[]\n")
    assert "--output-schema" in ran.stdout
