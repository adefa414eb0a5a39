"""``dsh models``: which models can be asked here, and what is missing for the others."""

import argparse
import os
from collections.abc import Iterator

from rich.console import Console

from dsh.agent import discover_models
from dsh.cli._configuration import plugin_lines, print_entry
from dsh.cli._model_choice import ENDPOINTS, REPLAY, Endpoint

__all__ = ["perform"]


def perform(_: argparse.Namespace) -> int:
    """Print every kind of model: what it needs, whether that is there, how it is configured."""
    console = Console()
    installed = discover_models()
    for kind, endpoint in ENDPOINTS.items():
        plugin = installed.get(endpoint.plugin)
        lines = (*_endpoint_lines(endpoint), *plugin_lines(plugin, endpoint.defaults))
        print_entry(console, f"{kind}:NAME", plugin, lines)
    spoken_to = {endpoint.plugin for endpoint in ENDPOINTS.values()}
    for name in dict.fromkeys([*installed, REPLAY]):
        if name not in spoken_to:
            plugin = installed.get(name)
            what = "FILE" if name == REPLAY else "NAME"
            print_entry(console, f"{name}:{what}", plugin, plugin_lines(plugin))
    return 0


def _endpoint_lines(endpoint: Endpoint) -> Iterator[str]:
    if os.environ.get(endpoint.key):
        yield f"ready: {endpoint.key} is set; {endpoint.default} is asked unless you name another"
    else:
        yield f"missing: set {endpoint.key}"
    if where := os.environ.get(endpoint.url):
        yield f"address: {where}, as {endpoint.url} says"
