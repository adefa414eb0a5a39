"""Who needs whom among the members, and what is published after what."""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter

from packaging.requirements import Requirement

from gates.workspace import Member


def dependencies(member: Member, workspace: Mapping[str, Member]) -> list[str]:
    """Return the members that *member* needs, itself first, through whatever they need."""
    found = [member.name]
    for name in found:  # grows while it is walked
        needed = _needed(workspace[name], workspace)
        found += [each for each in needed if each not in found]
    return found


def published(workspace: Mapping[str, Member]) -> list[Member]:
    """Return the members that are published, each after those it needs.

    A member that is published and needs one that is not is a ValueError: nobody could install it.
    """
    public = {name: member for name, member in workspace.items() if not member.private}
    graph = {name: _needed(member, workspace) for name, member in public.items()}
    for name, needed in graph.items():
        private = [each for each in needed if each not in public]
        if private:
            raise ValueError(f"{name} needs {', '.join(private)}, which is never published")
    return [public[name] for name in TopologicalSorter(graph).static_order()]


def _needed(member: Member, workspace: Mapping[str, Member]) -> list[str]:
    declared: Sequence[str] = member.manifest["project"].get("dependencies", [])
    names = (Requirement(each).name for each in declared)
    return sorted(name for name in names if name in workspace)
