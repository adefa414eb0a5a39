"""What an agent has of its own beside its host's: hooks, tools, prompt."""

from dsh.agent import Hooks, ModelRegistry, Prompt, ToolRegistry
from dsh.agent_loop._host import Host

__all__ = ["LayeredAgent"]


class LayeredAgent:
    """The layers of an agent; ``dsh.agent.Agent`` and ``TurnTaker`` say what each member is for.

    A layer is made when it is first asked for: most agents compose nothing and have none. Until
    then the host's is in force.
    """

    __slots__ = ("_is_unwound", "hooks_in_force", "host", "prompt_in_force", "tools_in_force")

    def __init__(self, host: Host) -> None:
        self.host = host
        self.hooks_in_force: Hooks = host.hooks
        self.tools_in_force: ToolRegistry = host.tools
        self.prompt_in_force: Prompt = host.prompt
        self._is_unwound = False

    @property
    def hooks(self) -> Hooks:
        if self.hooks_in_force is self.host.hooks:
            self.hooks_in_force = Hooks(self.host.hooks)
            if self._is_unwound:
                self.hooks_in_force.close()
        return self.hooks_in_force

    @property
    def tools(self) -> ToolRegistry:
        if self.tools_in_force is self.host.tools:
            self.tools_in_force = ToolRegistry(self.host.tools, hooks=self.hooks)
            if self._is_unwound:
                self.tools_in_force.close()
        return self.tools_in_force

    @property
    def prompt(self) -> Prompt:
        if self.prompt_in_force is self.host.prompt:
            self.prompt_in_force = Prompt(self.host.prompt, hooks=self.hooks)
            if self._is_unwound:
                self.prompt_in_force.close()
        return self.prompt_in_force

    @property
    def models(self) -> ModelRegistry:
        """Its host's models."""
        return self.host.models

    def unwind(self) -> None:
        """See ``dsh.agent.ManagedAgent``; what was never made stays unmade."""
        self._is_unwound = True
        host = self.host
        if self.tools_in_force is not host.tools:
            self.tools_in_force.close()
        if self.prompt_in_force is not host.prompt:
            self.prompt_in_force.close()
        if self.hooks_in_force is not host.hooks:  # last: hooks hear the others close
            self.hooks_in_force.close()
