"""``dsh providers``: what children can run on here, and what each backend honours."""

import argparse
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from rich.console import Console

from dsh.agent import AgentRegistry, HarnessError
from dsh.cli._configuration import plugin_lines, print_entry
from dsh.cli._provider_choice import ACP, choose_provider
from dsh.subagent import discover_providers
from dsh.subagent_acp import PRESETS

__all__ = ["perform"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _NoAgents:
    """A host for backends that are only looked at."""

    agents: AgentRegistry = field(default_factory=AgentRegistry)


def perform(_: argparse.Namespace) -> int:
    """Print every installed backend: capabilities, settings, and why one cannot be used."""
    console = Console()
    for name, plugin in discover_providers().items():
        about = _agent_lines() if name == ACP else _capability_lines(name)
        lines = (*about, *plugin_lines(plugin))
        print_entry(console, name, plugin, lines)
    return 0


def _agent_lines() -> Iterator[str]:
    """Which agents in processes of their own can be named."""
    for name, known in PRESETS.items():
        missing = shutil.which(known.command) is None
        state = f"missing: {known.install}" if missing else "ready"
        yield f"{ACP}:{name}: {state}; needs {known.needs}"
    yield f"{ACP}:PROGRAM: any other program that speaks the protocol"


def _capability_lines(name: str) -> Iterator[str]:
    try:
        provider = choose_provider(name).make(_NoAgents())
    except HarnessError as exc:
        yield f"missing: {exc}"
        return
    yield f"honours: {', '.join(provider.capabilities.names) or 'none of the optional requests'}"
    knows = "know" if provider.inherits_parent_context else "do not know"
    yield f"children {knows} the conversation of who asks"
