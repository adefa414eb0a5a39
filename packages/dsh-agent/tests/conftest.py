"""What the tests of this package share: an agent without a loop."""

from typing import Any, cast

import pytest

from dsh.agent import Agent, AgentId, AgentOptions, Hooks, Prompt, ToolRegistry


class BareHost:
    """A host's layer of everything that can be composed."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self.tools = ToolRegistry(hooks=self.hooks)
        self.prompt = Prompt(hooks=self.hooks)

    def agent(self, name: str = "a") -> Agent:
        """An agent that can be composed and called upon, but takes no turns."""
        return cast(Agent, BareAgent(self, name))


class BareAgent:
    """The parts of an agent that its hooks, tools and prompt are about."""

    def __init__(self, host: BareHost, name: str) -> None:
        self.id = AgentId(name)
        self.cwd = "/project"
        self.options = AgentOptions(model="scripted")
        self.hooks = Hooks(host.hooks)
        self.tools = ToolRegistry(host.tools, hooks=self.hooks)
        self.prompt = Prompt(host.prompt, hooks=self.hooks)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a bare agent has no {name}")


@pytest.fixture
def host() -> BareHost:
    """A host with nothing registered."""
    return BareHost()


@pytest.fixture(scope="session")
def make_host() -> type[BareHost]:
    """Hosts, for tests that need a fresh one for each of their examples."""
    return BareHost
