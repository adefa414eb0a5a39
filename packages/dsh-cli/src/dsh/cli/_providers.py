"""``dsh providers``: what children can run on here, and what each backend honours."""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from rich.console import Console

from dsh.agent import AgentRegistry, HarnessError
from dsh.cli._configuration import plugin_lines, print_entry
from dsh.cli._provider_choice import ProviderChoice, choose_provider
from dsh.subagent import discover_providers

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
        lines = (*_capability_lines(choose_provider(name)), *plugin_lines(plugin))
        print_entry(console, name, plugin, lines)
    return 0


def _capability_lines(choice: ProviderChoice) -> Iterator[str]:
    try:
        provider = choice.make(_NoAgents())
    except HarnessError as exc:
        yield f"missing: {exc}"
        return
    yield f"honours: {', '.join(provider.capabilities.names) or 'none of the optional requests'}"
    knows = "know" if provider.inherits_parent_context else "do not know"
    yield f"children {knows} the conversation of who asks"
