"""What a host holds, named for a check for leaks."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from dsh.agent._agent import Agent
from dsh.agent._hooks import Hooks
from dsh.agent._models import ModelRegistry
from dsh.agent._prompt import Prompt
from dsh.agent._tools import ToolRegistry
from dsh.agent.testing._leaks import Probe

__all__ = ["AgentList", "HostLike", "host_probe"]


class AgentList(Protocol):
    """Whatever lists the live agents of a host."""

    def list(self) -> Sequence[Agent]:
        """The live agents."""
        ...


class HostLike(Protocol):
    """A host, whoever wrote it: the five registries its agents share.

    Those are ``agents``, ``models``, ``tools``, ``prompt`` and ``hooks``.
    """

    @property
    def agents(self) -> AgentList: ...
    @property
    def models(self) -> ModelRegistry: ...
    @property
    def tools(self) -> ToolRegistry: ...
    @property
    def prompt(self) -> Prompt: ...
    @property
    def hooks(self) -> Hooks: ...


def host_probe(host: HostLike) -> Probe:
    """Name the live agents, models, tools, prompt sections and listeners of *host*.

    And the tokens of its limited models: one is held for each request under way.
    """

    def probe() -> Iterable[str]:
        yield from (f"agent {agent.id!r}" for agent in host.agents.list())
        yield from (f"model {name!r}" for name in host.models.names)
        yield from (f"tool {name!r}" for name in host.tools.visible())
        yield from (f"prompt section {name!r}" for name in host.prompt.sections())
        yield from (f"listener of {point}" for point in host.hooks.listeners)
        yield from ["token of a model's limiter"] * host.models.requests_under_way

    return probe
