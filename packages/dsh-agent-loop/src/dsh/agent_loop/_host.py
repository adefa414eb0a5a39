"""What a host is composed of."""

from typing import Final, final

from dsh.agent import (
    AgentOptions,
    AgentRegistry,
    Hooks,
    ModelRegistry,
    Prompt,
    SessionStore,
    ToolRegistry,
)

__all__ = ["MAX_PARALLEL_TOOL_CALLS", "MAX_STEPS", "Host"]

MAX_STEPS: Final = 100
"""How many requests a turn may make where nobody says otherwise."""

MAX_PARALLEL_TOOL_CALLS: Final = 16
"""How many calls of one response run at once where nobody says otherwise."""


@final
class Host:
    """What every agent of a host shares, and the ``agents`` there are.

    That is ``models``, ``tools``, ``prompt`` and ``hooks``: what is registered there is for all of
    them. Made by `open_host`.
    """

    def __init__(self, options: AgentOptions, sessions: SessionStore | None) -> None:
        self.options = options
        """What an agent's own options leave open."""
        self.sessions = sessions
        """Who keeps the logs of its agents, if anybody."""
        self.models = ModelRegistry()
        self.hooks = Hooks()
        self.tools = ToolRegistry(hooks=self.hooks)
        self.prompt = Prompt(hooks=self.hooks)
        self.agents = AgentRegistry()

    def unwind(self) -> None:
        """Close its layers, as its agents' are; hooks last, since they hear the others close."""
        for layer in (self.tools, self.prompt, self.hooks):
            layer.close()

    def resolve(self, own: AgentOptions) -> tuple[AgentOptions, int, int]:
        """An agent's options with the host's filled in, and its two limits."""
        host = self.options
        steps = own.max_steps or host.max_steps or MAX_STEPS
        parallel = (
            own.max_parallel_tool_calls or host.max_parallel_tool_calls or MAX_PARALLEL_TOOL_CALLS
        )
        limits = own.max_steps, own.max_parallel_tool_calls
        if own.model and limits == (steps, parallel) and not host.options:
            return own, steps, parallel  # in force already: a child's, taken over from its parent
        options = AgentOptions(
            model=own.model or host.model,
            options={**host.options, **own.options},
            max_steps=steps,
            max_parallel_tool_calls=parallel,
        )
        return options, steps, parallel
