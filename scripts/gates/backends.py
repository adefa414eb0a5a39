"""What a backend's README says it honours and can be set to, against the backend itself.

Two tables are compared: the rows of `## Capabilities` (a field in backticks, yes or no) with the
provider's `SubagentCapabilities`, and the rows of `## Configuration` (a setting in backticks, its
default as JSON in backticks or the word required) with the factory's `config_model`. Both are read
off the objects that a host would load.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, cast

from dsh.agent import AgentRegistry
from gates.gate import Gate
from gates.markdown import headings, prose_lines, section
from gates.workspace import Member, members

if TYPE_CHECKING:
    from pydantic import BaseModel

GROUP: Final = "dsh.subagent_providers"
CAPABILITIES: Final = "Capabilities"
CONFIGURATION: Final = "Configuration"
REQUIRED: Final = "required"

_ROW: Final = re.compile(r"\|\s*`(?P<name>[a-z_]+)`\s*\|\s*(?P<value>[^|]*?)\s*\|.*")


def check(root: Path) -> list[str]:
    """Return where a published backend's README and the backend disagree."""
    return [
        f"{(member.path / 'README.md').relative_to(root)}: {what}"
        for member in members(root)
        if not member.private
        for reference in _references(member)
        for what in drift(
            (member.path / "README.md").read_text(encoding="utf-8"), *_declared(reference)
        )
    ]


def drift(readme: str, capabilities: Mapping[str, bool], settings: Mapping[str, str]) -> list[str]:
    """Return what the tables of *readme* say otherwise than these two."""
    lines = prose_lines(readme)
    honoured = {name: "yes" if value else "no" for name, value in capabilities.items()}
    return [
        *_differences(CAPABILITIES, _table(lines, CAPABILITIES), honoured),
        *_differences(CONFIGURATION, _table(lines, CONFIGURATION), settings),
    ]


def _differences(heading: str, says: Mapping[str, str], true: Mapping[str, str]) -> list[str]:
    return [
        *(f"## {heading} lacks `{name}` ({true[name]})" for name in true if name not in says),
        *(f"## {heading} names `{name}`, which is none" for name in says if name not in true),
        *(
            f"## {heading} says {says[name]} of `{name}`; it is {true[name]}"
            for name in true
            if name in says and says[name] != true[name]
        ),
    ]


def _table(lines: Sequence[str], title: str) -> dict[str, str]:
    """Return the rows of the table below that heading: first column to second."""
    found = [heading for heading in headings(lines) if heading.text == title]
    rows = (_ROW.fullmatch(line.strip()) for each in found for line in section(lines, each))
    return {row["name"]: row["value"] for row in rows if row}


def _references(member: Member) -> list[str]:
    groups: Mapping[str, Mapping[str, str]] = member.manifest["project"].get("entry-points", {})
    return list(groups.get(GROUP, {}).values())


def _declared(reference: str) -> tuple[dict[str, bool], dict[str, str]]:
    """Return what the backend behind an entry point offers, and what it can be set to."""
    module, _, name = reference.partition(":")
    found: Any = getattr(import_module(module), name)
    factory: Any = found() if isinstance(found, type) else found
    model = cast("type[BaseModel]", factory.config_model)
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    given: dict[str, Any] = dict.fromkeys(required, "x")
    config = model.model_construct(**given)
    provider: Any = factory.create(SimpleNamespace(agents=AgentRegistry()), config)
    settings = {
        name: REQUIRED
        if name in required
        else f"`{json.dumps(field.get_default(call_default_factory=True), default=str)}`"
        for name, field in model.model_fields.items()
    }
    return asdict(provider.capabilities), settings


GATE: Final = Gate(name="backends", check=check)
