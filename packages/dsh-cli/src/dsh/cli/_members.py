"""The installed members of the family, read from the metadata of their distributions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PREFIX: Final = "dsh-"
LIMITATIONS: Final = "## Known Limitations and Deferred Work"
"""The last section of every member's README, which is the description of its distribution."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What an installed distribution says of itself."""

    name: str
    version: str
    lacks: tuple[str, ...]
    """The limitations its README admits, as Markdown, one line each."""


def installed(found: "Iterable[Distribution] | None" = None) -> list[Member]:
    """Return the members among *found*, by default what this interpreter can import, by name.

    A distribution is a member when its name begins with `dsh-` and its README has our section of
    limitations; where two of one name are on the path, the first is the one that is imported.
    """
    from importlib.metadata import distributions  # `dsh --help` does without

    members: dict[str, Member] = {}
    for distribution in distributions() if found is None else found:
        name = distribution.metadata["Name"]
        lacks = tuple(limitations(_description(distribution)))
        if name.startswith(PREFIX) and lacks:
            member = Member(name=name, version=distribution.version, lacks=lacks)
            members.setdefault(name, member)
    return sorted(members.values(), key=lambda member: member.name)


def _description(distribution: "Distribution") -> str:
    return str(distribution.metadata.json.get("description", ""))  # a field, or the body


def limitations(readme: str) -> Iterator[str]:
    """Yield the bullets of the README's section of limitations, continuation lines joined."""
    _, _, section = readme.partition(f"\n{LIMITATIONS}\n")
    bullet = ""
    for line in takewhile(lambda line: not line.startswith("#"), section.splitlines()):
        if line.startswith("- "):
            if bullet:
                yield bullet
            bullet = line.removeprefix("- ").strip()
        elif bullet:
            bullet = f"{bullet} {line.strip()}".strip()
    if bullet:
        yield bullet
