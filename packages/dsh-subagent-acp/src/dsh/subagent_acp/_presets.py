"""How to start agents that exist; nothing of them is bundled or installed.

A preset is a value: what `preset` takes for an `AcpConfig`, and what a person has to see to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, final

from dsh.subagent_acp._config import AcpConfig

__all__ = ["PRESETS", "Preset", "preset"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One agent: how it is installed and started, and what it reads."""

    install: str
    """The command that installs it."""
    command: str
    """The program."""
    args: tuple[str, ...] = ()
    """What makes the program speak the protocol."""
    config_dir_variables: tuple[str, ...] = ()
    """Which variables say where its configuration is."""
    credentials: tuple[str, ...] = ()
    """Variables with a credential; it reaches the agent by ``AcpConfig.env`` only."""
    needs: str = ""
    """What else has to be there."""


PRESETS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "codex": Preset(
            install="npm install @zed-industries/codex-acp",
            command="codex-acp",
            config_dir_variables=("CODEX_HOME",),
            credentials=("OPENAI_API_KEY", "CODEX_API_KEY"),
            needs="a login in its CODEX_HOME, or a key",
        ),
        "claude-code": Preset(
            install="npm install @zed-industries/claude-code-acp",
            command="claude-code-acp",
            config_dir_variables=("CLAUDE_CONFIG_DIR",),
            credentials=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
            needs="a login in its CLAUDE_CONFIG_DIR, or a key",
        ),
        "opencode": Preset(
            install="npm install opencode-ai",
            command="opencode",
            args=("acp", "--pure"),
            config_dir_variables=("OPENCODE_CONFIG_DIR",),
            needs="a provider in its configuration, with a login or a key",
        ),
        "gemini": Preset(
            install="npm install @google/gemini-cli",
            command="gemini",
            args=("--experimental-acp",),
            credentials=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            needs="a login in ~/.gemini, or a key",
        ),
        "deepseek-harness": Preset(
            install="pip install deepseek-harness-runtime-bin",
            command="dsh",
            args=("acp",),
            config_dir_variables=("DSH_HOME",),
            credentials=("DEEPSEEK_API_KEY",),
            needs="a key",
        ),
    }
)
"""The agents there is a preset for, by the name `preset` takes."""


def preset(name: str, /, **settings: Any) -> AcpConfig:
    """Return the configuration of a known agent, registered under its own name unless told else.

    Args:
      name: one of `PRESETS`.
      settings: what `AcpConfig` takes; it has precedence over the preset.

    Raises:
      KeyError: no such preset; the message names those there are.
      pydantic.ValidationError: a setting is none, or out of range.
    """
    if name not in PRESETS:
        raise KeyError(f"no preset {name!r}; there are: {', '.join(PRESETS)}")
    known = PRESETS[name]
    given = {
        "provider_name": name,
        "command": known.command,
        "args": known.args,
        "config_dir_variables": known.config_dir_variables,
    }
    return AcpConfig.model_validate(given | settings)
