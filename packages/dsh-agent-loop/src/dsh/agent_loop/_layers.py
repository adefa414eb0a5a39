"""What an agent has of its own beside its host's: hooks, tools, prompt."""

from dsh.agent import Hooks, ModelRegistry, Prompt, ToolRegistry
from dsh.agent_loop._host import Host

__all__ = ["LayeredAgent"]


class LayeredAgent:
    """The layers of an agent; ``dsh.agent.Agent`` and ``TurnTaker`` say what each member is for.

    A layer is made when it is first asked for: most agents compose nothing and have none.
    """

    __slots__ = ("_hooks", "_is_unwound", "_prompt", "_tools", "host")

    def __init__(self, host: Host) -> None:
        self.host = host
        self._hooks: Hooks | None = None
        self._tools: ToolRegistry | None = None
        self._prompt: Prompt | None = None
        self._is_unwound = False

    @property
    def hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks(self.host.hooks)
            if self._is_unwound:
                self._hooks.close()
        return self._hooks

    @property
    def tools(self) -> ToolRegistry:
        if self._tools is None:
            self._tools = ToolRegistry(self.host.tools, hooks=self.hooks)
            if self._is_unwound:
                self._tools.close()
        return self._tools

    @property
    def prompt(self) -> Prompt:
        if self._prompt is None:
            self._prompt = Prompt(self.host.prompt, hooks=self.hooks)
            if self._is_unwound:
                self._prompt.close()
        return self._prompt

    @property
    def hooks_in_force(self) -> Hooks:
        return self._hooks or self.host.hooks

    @property
    def tools_in_force(self) -> ToolRegistry:
        return self._tools or self.host.tools

    @property
    def prompt_in_force(self) -> Prompt:
        return self._prompt or self.host.prompt

    @property
    def models(self) -> ModelRegistry:
        """Its host's models."""
        return self.host.models

    def unwind(self) -> None:
        """See ``dsh.agent.ManagedAgent``; what was never made stays unmade."""
        self._is_unwound = True
        for layer in (self._tools, self._prompt, self._hooks):  # hooks hear the others close
            if layer is not None:
                layer.close()
