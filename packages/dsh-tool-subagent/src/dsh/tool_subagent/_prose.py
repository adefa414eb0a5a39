"""What models read; the words themselves are in the files of ``prose``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast, final

__all__ = ["Wording", "headlines", "wording"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What a tool says of itself."""

    description: str
    prompt: str
    """The description of its parameter ``prompt``."""
    guidance: str


def _read(name: str) -> str:
    return files("dsh.tool_subagent").joinpath("prose", name).read_text(encoding="utf-8")


def _prose(name: str) -> str:
    """The file's paragraphs, each on one line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in _read(name).split("\n\n"))


@cache
def wording(*, inherits_parent_context: bool) -> Wording:
    """The words for a provider whose children know the conversation, or for one whose do not."""
    kind = "inherited" if inherits_parent_context else "fresh"
    return Wording(
        description=_prose(f"{kind}.description.md"),
        prompt=_prose(f"{kind}.prompt.md"),
        guidance=_prose(f"{kind}.guidance.md"),
    )


@cache
def headlines() -> Mapping[str, str]:
    """One sentence for each reason a child can end for; ``other`` is for those nobody knows."""
    return cast("dict[str, str]", tomllib.loads(_read("headlines.toml")))
