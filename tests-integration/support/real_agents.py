"""Agents that exist, configured for a fake model on loopback and for nothing else.

``scripts/agents`` installs them into the directory that ``DSH_AGENTS`` names.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from dsh.subagent_acp import AcpConfig, preset

__all__ = ["AGENTS", "installed"]

Configure: TypeAlias = Callable[[Path, Path, str], AcpConfig]
"""Where it is installed, a home of its own and the model's address to its configuration."""

_CODEX = """
model = "fake-1"
model_provider = "fake"
approval_policy = "untrusted"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[analytics]
enabled = false
"""


def installed() -> Path | None:
    """Where the agents are, if anywhere."""
    named = os.environ.get("DSH_AGENTS")
    return Path(named) if named else None


def _codex(place: Path, home: Path, url: str) -> AcpConfig:
    (home / "config.toml").write_text(_CODEX.format(url=url))
    env = {"FAKE_KEY": "not-a-key", "HOME": str(home)}
    command = str(place / "node_modules/.bin/codex-acp")
    return preset("codex", command=command, config_dir=home, env=env)


def _opencode(place: Path, home: Path, url: str) -> AcpConfig:
    model = {"tool_call": True, "limit": {"context": 100_000, "output": 10_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "not-a-key"},
        "models": {"fake-1": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": "fake/fake-1",
        "small_model": "fake/fake-1",
        "enabled_providers": ["fake"],
        "provider": {"fake": provider},
        "permission": {"bash": "ask", "edit": "ask"},
    }
    env = {"OPENCODE_CONFIG_CONTENT": json.dumps(config), "HOME": str(home)}
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"):
        env[f"OPENCODE_DISABLE_{name}"] = "1"
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        env[f"XDG_{name}_HOME"] = str(home / name.lower())
    return preset("opencode", command=str(place / "node_modules/.bin/opencode"), env=env)


def _deepseek_harness(place: Path, home: Path, url: str) -> AcpConfig:
    (home / "tmp").mkdir()
    env = {
        "DEEPSEEK_BASE_URL": url,
        "DEEPSEEK_API_KEY": "not-a-key",
        "DSH_TELEMETRY_OTLP_URL": "http://127.0.0.1:9",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
    }
    command = str(place / "venv/bin/dsh")
    return preset("deepseek-harness", command=command, config_dir=home / "dsh", env=env)


AGENTS: dict[str, Configure] = {
    "codex": _codex,
    "opencode": _opencode,
    "deepseek-harness": _deepseek_harness,
}
