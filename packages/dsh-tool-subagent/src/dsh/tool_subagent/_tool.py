"""One call of the tool: from the model's arguments, through a child, to the result."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Final, final

import trio
from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from dsh.agent import (
    UNRESTRICTED,
    Agent,
    AgentId,
    AgentOptions,
    HarnessError,
    Tool,
    ToolArgsError,
    ToolError,
    ToolExecution,
    ToolFilter,
    ToolResult,
)
from dsh.subagent import (
    ProviderDescriptor,
    SubagentResult,
    SubagentService,
    SubagentStartRequest,
)
from dsh.tool_subagent._config import SubagentToolConfig
from dsh.tool_subagent._prose import Wording, wording
from dsh.tool_subagent._rendering import rendered, told

__all__ = ["Delegation"]

GUIDANCE_ORDER: Final = 110

_Text = Annotated[str, StringConstraints(strict=True, strip_whitespace=True, min_length=1)]


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    description: _Text
    prompt: _Text


@final
class Delegation:
    """The tool of one mount, for as long as one provider is there."""

    def __init__(
        self,
        subagents: SubagentService,
        provider: ProviderDescriptor,
        config: SubagentToolConfig,
        started: Counter[AgentId],
    ) -> None:
        self._subagents = subagents
        self._provider = provider
        self._config = config
        self._started = started
        own = AgentOptions(model=config.model, max_steps=config.max_steps)
        self._options = None if own == AgentOptions() else own

    @property
    def tool(self) -> Tool:
        """The tool, in words that fit the provider."""
        words = wording(inherits_parent_context=self._provider.inherits_parent_context)
        return Tool(
            name=self._config.tool_name,
            description=words.description,
            parameters=_parameters(words),
            execute=self._execute,
            concurrent=True,
            guidance=words.guidance.format(tool=self._config.tool_name),
            guidance_order=GUIDANCE_ORDER,
        )

    async def _execute(self, execution: ToolExecution) -> ToolResult:
        agent = execution.agent
        if agent is None:
            raise ToolError(
                "a subagent needs an agent that it works for, and nobody in particular made this "
                "call",
                code="NO_CALLING_AGENT",
            )
        arguments = _arguments(execution)
        if (refusal := self._refusal(agent)) is not None:
            raise refusal
        request = self._request(agent, arguments, execution.call_id)
        try:
            result = await self._child(agent, request)
        except HarnessError as error:
            raise ToolError(told(error), code=error.code) from error
        return rendered(result, max_chars=self._config.max_result_chars)

    async def _child(self, agent: Agent, request: SubagentStartRequest[Any]) -> SubagentResult[Any]:
        """Run one child to its end; only one that was started counts."""
        self._started[agent.id] += 1  # before the first wait, so that siblings cannot overshoot
        try:
            run = await self._subagents.start(self._provider.name, request)
        except BaseException:  # undone, and passed on
            self._started[agent.id] -= 1
            raise
        async with run:
            return await run.result()

    def _refusal(self, agent: Agent) -> ToolError | None:
        config = self._config
        if config.max_depth is not None and agent.depth + 1 > config.max_depth:
            return ToolError(
                f"no subagent was started: delegation ends at depth {config.max_depth}, and you "
                f"are at depth {agent.depth}. Do the task yourself, with the tools you have.",
                code="DEPTH_LIMIT",
            )
        if config.max_children is not None and self._started[agent.id] >= config.max_children:
            return ToolError(
                f"no subagent was started: you have started {config.max_children}, as many as one "
                "agent may. Do the rest yourself, with the tools you have.",
                code="CHILDREN_LIMIT",
            )
        restrictable = self._provider.capabilities.tool_filter or config.allow_unrestricted
        if not restrictable and agent.tools.restriction() != UNRESTRICTED:
            return ToolError(
                "no subagent was started: your tools are restricted, and this kind of subagent "
                "could use others. Do the task yourself, with the tools you have.",
                code="RESTRICTED_PARENT",
            )
        return None

    def _request(
        self, agent: Agent, arguments: _Arguments, call_id: str
    ) -> SubagentStartRequest[Any]:
        config = self._config
        names = config.tool_filter
        scope = trio.CancelScope()
        if config.timeout is not None:
            scope = trio.CancelScope(relative_deadline=config.timeout)
        return SubagentStartRequest(
            prompt=arguments.prompt,
            parent=agent,
            cancel_scope=scope,
            label=arguments.description,
            parent_call_id=call_id,
            agent_options=self._options,
            output_schema=config.output_schema,
            max_depth=config.max_depth if self._provider.capabilities.depth_limit else None,
            tool_filter=ToolFilter(allow=names.allow, deny=names.deny) if names else None,
            persona=config.persona,
        )


def _arguments(execution: ToolExecution) -> _Arguments:
    try:
        return _Arguments.model_validate_json(execution.text)
    except ValidationError as exc:
        violations = (
            f"{'.'.join(map(str, error['loc'])) or 'arguments'}: {error['msg']}"
            for error in exc.errors(include_url=False, include_input=False)[:20]
        )
        raise ToolArgsError(execution.name, tuple(violations)) from exc


def _parameters(words: Wording) -> Mapping[str, object]:
    return {
        "type": "object",
        "properties": {
            "description": {"type": "string", "description": "The task in three to five words."},
            "prompt": {"type": "string", "description": words.prompt},
        },
        "required": ["description", "prompt"],
        "additionalProperties": False,
    }
