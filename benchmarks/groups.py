"""What is measured together: who takes turns on which cases, each with a module of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from benchmarks.environments import environment
from benchmarks.results import FLOOR, ORIGINAL, OURS

__all__ = ["GROUPS", "GROWS", "ONCE", "PEERS", "THE_ORIGINAL", "Group", "Peer", "python_of"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Another library: its distribution, and the module that has its cases."""

    distribution: str
    version: str
    module: str


THE_ORIGINAL: Final = Peer(
    distribution="deepseek-harness-runtime-bin",
    version="0.1.1rc1",
    module="benchmarks.original",
)
"""A program that our interpreter drives."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """``modules`` has the module of each subject; the cases are those the modules have.

    With ``only``, no more than these.
    """

    name: str
    about: str
    modules: Mapping[str, str]
    only: tuple[str, ...] = ()


def _peer(distribution: str, version: str, module: str) -> Peer:
    return Peer(distribution=distribution, version=version, module=f"benchmarks.peers.{module}")


PEERS: Final[Mapping[str, Peer]] = {
    "strands": _peer("strands-agents", "1.62.0", "on_strands"),
    "langchain": _peer("langchain", "1.5.2", "on_langchain"),
    "openai-agents": _peer("openai-agents", "0.24.0", "on_openai_agents"),
    "pydantic-ai": _peer("pydantic-ai-slim", "2.68.0", "on_pydantic_ai"),
    "google-adk": _peer("google-adk", "2.13.0", "on_google_adk"),
    "smolagents": _peer("smolagents", "1.26.0", "on_smolagents"),
    "deepagents": _peer("deepagents", "0.7.32", "on_deepagents"),
}

_PEER_MODULES: Final = {name: peer.module for name, peer in PEERS.items()}
_SIZES: Final = ("100", "1,000", "10,000")

GROUPS: Final = (
    Group(
        name="turns",
        about="turns, tool steps, idle agents",
        modules={OURS: "benchmarks.turns"},
    ),
    Group(name="log", about="the session log by its length", modules={OURS: "benchmarks.log"}),
    Group(name="listeners", about="what listeners cost", modules={OURS: "benchmarks.listeners"}),
    Group(
        name="delegation",
        about="one child after the other, some of them given a past",
        modules={OURS: "benchmarks.delegate", **_PEER_MODULES},
        only=(
            "delegation",
            "trivial tool",
            "structured delegation",
            "child alone",
            "structured child",
            "child given 1,000 messages",
            "child given 10,000 messages",
        ),
    ),
    Group(
        name="fan-out",
        about="children that are alive at once",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.children", **_PEER_MODULES},
        only=(
            *(f"fan-out of {size}" for size in _SIZES),
            *(f"fan-out of {size}, no collector" for size in (_SIZES[0], _SIZES[-1])),
        ),
    ),
    Group(
        name="cancel",
        about="ending children that are alive",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.children"},
        only=("cancel of 1,000",),
    ),
    Group(
        name="memory",
        about="what a live child keeps",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.children", **_PEER_MODULES},
        only=("live child",),
    ),
    Group(
        name="imports",
        about="importing what a delegation takes",
        modules={FLOOR: "benchmarks.floor", OURS: "benchmarks.children", **_PEER_MODULES},
        only=("import",),
    ),
    Group(name="start", about="the start of the command", modules={OURS: "benchmarks.start"}),
    Group(
        name="http",
        about="a delegation over HTTP",
        modules={OURS: "benchmarks.http", ORIGINAL: THE_ORIGINAL.module},
    ),
    Group(
        name="acp", about="a child over the Agent Client Protocol", modules={OURS: "benchmarks.acp"}
    ),
)

GROWS: Final[Mapping[str, str]] = {
    "fan-out of 10,000": "fan-out of 1,000",
    "fan-out of 1,000": "fan-out of 100",
    "child given 10,000 messages": "child given 1,000 messages",
}
"""Cases that take at least ten times as long as another, whose time predicts theirs."""

ONCE: Final = frozenset({"live child", "live ACP child", "idle agent"})
"""Cases that have no noise: one round is enough."""


def python_of(subject: str, ours: Path) -> Path:
    """The interpreter that measures it. Raises ``NotMeasured`` when it cannot be installed."""
    peer = PEERS.get(subject)
    return environment(peer.distribution, peer.version) if peer else ours
