"""What tests of whole trees share: a host with both in-process backends, and small tools."""

from dataclasses import dataclass
from typing import Any

from dsh.agent import (
    Agent,
    AgentId,
    ChatRequest,
    Message,
    TextBlock,
    Tool,
    ToolExecution,
    ToolResult,
    ToolResultBlock,
)
from dsh.agent.testing import Script, ScriptedModel
from dsh.agent_loop import Host
from dsh.subagent import SubagentResult, SubagentRun, SubagentService, SubagentStartRequest


@dataclass
class Home:
    """A host, its backends ``spawn`` and ``fork``, and an idle parent of the model ``model``."""

    host: Host
    subagents: SubagentService
    parent: Agent

    def script(self, *steps: Script, name: str = "model") -> ScriptedModel:
        """Have the model of that name answer with *steps*, parent and children alike."""
        model = ScriptedModel(*steps)
        self.host.models.register(model, name)
        return model

    async def ask(self, prompt: str) -> None:
        """Have the parent serve *prompt*."""
        self.parent.send(prompt)
        await self.parent.wait_idle()

    def agent(self, id: AgentId) -> Agent:
        """The live agent of that id."""
        agent = self.host.agents.get(id)
        assert agent is not None
        return agent

    def request(self, **fields: Any) -> SubagentStartRequest[Any]:
        """A request of the parent."""
        given: dict[str, Any] = {"prompt": "go", "parent": self.parent}
        return SubagentStartRequest(**given | fields)

    async def start(self, provider: str = "spawn", **fields: Any) -> SubagentRun[Any]:
        """Start a child of the parent."""
        return await self.subagents.start(provider, self.request(**fields))

    async def run(self, provider: str = "spawn", **fields: Any) -> SubagentResult[Any]:
        """Run a child of the parent to its end."""
        return await self.subagents.run(provider, self.request(**fields))


def tool(name: str, result: str = "ok") -> Tool:
    """A tool without parameters that answers *result*."""

    async def execute(_: ToolExecution) -> ToolResult:
        return ToolResult(content=(TextBlock(text=result),))

    return Tool(
        name=name, description=f"To {name}.", parameters={"type": "object"}, execute=execute
    )


def text_of(message: Message) -> str:
    """The visible text of *message*."""
    return "".join(block.text for block in message.content if isinstance(block, TextBlock))


def offered(request: ChatRequest) -> list[str]:
    """The names of the tools a model was offered."""
    return [each.name for each in request.tools or ()]


def last_result(request: ChatRequest) -> ToolResultBlock:
    """The tool result at the end of what a model was sent."""
    block = request.messages[-1].content[-1]
    assert isinstance(block, ToolResultBlock)
    return block


def result_text(request: ChatRequest) -> str:
    """The text of that result."""
    return "".join(b.text for b in last_result(request).content if isinstance(b, TextBlock))
