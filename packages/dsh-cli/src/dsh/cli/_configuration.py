"""What is installed, in words: who brings a plugin, and how it is configured."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from dsh.agent import Plugin, PluginError

__all__ = ["plugin_lines", "print_entry"]


def print_entry(
    console: Console, title: str, plugin: Plugin[Any] | None, lines: Iterable[str]
) -> None:
    """Print what there is to say of one plugin, or of one that is not there."""
    whose = "not installed" if plugin is None else ", ".join(plugin.distributions)
    console.print(Text.assemble((title, "bold"), f"  {whose}"), soft_wrap=True)
    for line in lines:
        console.print(Text(f"  {line}"), soft_wrap=True)


def plugin_lines(
    plugin: Plugin[Any] | None, given: Mapping[str, object] | None = None
) -> Iterator[str]:
    """Yield a line for each setting of *plugin*: its name, its default, what it means.

    *given* are defaults of the command's own, which take the place of the plugin's.
    """
    if plugin is None:
        return
    try:
        fields = plugin.load().config_model.model_fields
    except PluginError as exc:
        yield f"cannot be used: {exc}"
        return
    for name, field in fields.items():
        default = (given or {}).get(name, field.get_default(call_default_factory=True))
        shown = "required" if field.is_required() else repr(default)
        yield f"{name} ({shown}): {field.description or ''}".rstrip(": ")
