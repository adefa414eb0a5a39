"""The system text: named, ordered sections; an agent's own section shadows its host's."""

from dataclasses import dataclass
from typing import final

from dsh.agent._hooks import Registration

__all__ = ["PERSONA", "Prompt", "Section"]

PERSONA = "deployment:persona"
"""The section that says who the agent is, at order 0."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A piece of system text; an empty one shadows without showing."""

    name: str
    text: str
    order: float = 0
    owner_final: bool = False


@final
class Prompt:
    """The sections of one layer; *host* is the layer below an agent's own."""

    __slots__ = ("_host", "_sections")

    def __init__(self, host: "Prompt | None" = None) -> None:
        self._host = host
        self._sections: dict[str, Section] = {}

    def register(self, section: Section) -> Registration:
        """Add *section* to this layer."""
        self._sections[section.name] = section

        def undo() -> None:
            del self._sections[section.name]

        return Registration(undo)

    def sections(self) -> dict[str, Section]:
        """The sections in force, by name."""
        return (self._host.sections() if self._host is not None else {}) | self._sections

    def render(self) -> str | None:
        """The system text, or ``None`` where every section is empty."""
        ordered = sorted(self.sections().values(), key=lambda section: section.order)
        return "\n\n".join(section.text for section in ordered if section.text) or None
