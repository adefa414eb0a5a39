"""The registry of backends, and the door every delegation goes through."""

from functools import partial
from typing import Any, final

from dsh.agent import AgentOptions, Registration, TextBlock
from dsh.subagent._errors import (
    CancelScopeError,
    DuplicateProviderError,
    UnknownProviderError,
    UnsupportedCapabilityError,
)
from dsh.subagent._provider import SubagentProvider
from dsh.subagent._request import ResolvedRequest, SubagentStartRequest
from dsh.subagent._result import SubagentResult
from dsh.subagent._run import SubagentRun, supervise

__all__ = ["SubagentService"]


@final
class SubagentService:
    """The providers of a host, under their names."""

    def __init__(self) -> None:
        self._providers: dict[str, SubagentProvider] = {}

    def register(self, provider: SubagentProvider) -> Registration:
        """Make *provider* startable; closing the registration spares runs already started."""
        name = provider.name
        if name in self._providers:
            raise DuplicateProviderError(name)
        self._providers[name] = provider

        def undo() -> None:
            del self._providers[name]

        return Registration(undo)

    def list(self) -> tuple[str, ...]:
        """The registered names, in the order of registration."""
        return tuple(self._providers)

    async def run(self, name: str, request: SubagentStartRequest) -> SubagentResult[Any]:
        """Start, wait, close: what most callers want."""
        async with await self.start(name, request) as run:
            return await run.result()

    async def start(self, name: str, request: SubagentStartRequest) -> SubagentRun:
        """Start a child; returning is its publication, and hands it to the caller."""
        provider = self._providers.get(name)
        if provider is None:
            raise UnknownProviderError(name, known=self.list())
        resolved = _resolve(provider, request)
        scope = request.cancel_scope
        if scope.is_relative is None:
            raise CancelScopeError("was entered before")
        release = request.parent.adopt(scope)
        try:
            run: SubagentRun = await request.parent.nursery.start(
                partial(supervise, provider, resolved, scope, release)
            )
        except BaseException:
            release()
            raise
        return run


def _resolve(provider: SubagentProvider, request: SubagentStartRequest) -> ResolvedRequest:
    gated = {
        "output_schema": (request.output_schema, provider.capabilities.output_schema),
        "max_depth": (request.max_depth, provider.capabilities.depth_limit),
        "tool_filter": (request.tool_filter, provider.capabilities.tool_filter),
        "persona": (request.persona, provider.capabilities.persona),
    }
    for field, (value, supported) in gated.items():
        if value is not None and not supported:
            raise UnsupportedCapabilityError(provider.name, field)
    prompt = request.prompt
    return ResolvedRequest(
        provider=provider.name,
        prompt=(TextBlock(text=prompt),) if isinstance(prompt, str) else prompt,
        parent=request.parent,
        label=request.label,
        agent_options=request.agent_options or AgentOptions(),
        output_schema=request.output_schema,
        max_depth=request.max_depth,
        tool_filter=request.tool_filter,
        persona=request.persona,
    )
