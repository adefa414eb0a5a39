"""When the tool is there, and for whom: it comes and goes with its provider."""

import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Protocol, final

from pydantic import ValidationError

from dsh.agent import (
    AgentCreated,
    AgentDisposed,
    AgentId,
    Hooks,
    Registration,
    ToolRegistry,
    ToolRestriction,
)
from dsh.subagent import ProviderAdded, ProviderDescriptor, ProviderRemoved, SubagentService
from dsh.tool_subagent._config import SubagentToolConfig
from dsh.tool_subagent._errors import DuplicateMountError, SubagentToolConfigError
from dsh.tool_subagent._tool import Delegation

__all__ = ["ToolHost", "mount_subagent_tool"]

logger: Final = logging.getLogger("dsh.tool_subagent")

_GATED: Final = {
    "tool_filter": "tool_filter",
    "persona": "persona",
    "output_schema": "output_schema",
}
"""Which capability each of these keys needs of the provider."""


class ToolHost(Protocol):
    """What mounting needs of a host, ``tools`` and ``hooks``; ``dsh.agent_loop.Host`` is one."""

    @property
    def tools(self) -> ToolRegistry: ...
    @property
    def hooks(self) -> Hooks: ...


def mount_subagent_tool(
    host: ToolHost, subagents: SubagentService, config: SubagentToolConfig | Mapping[str, Any]
) -> Registration:
    """Offer every agent of *host* a tool that starts children on one provider of *subagents*.

    The tool is there while the provider is: now, or as soon as one of that name is registered
    (B-TSUB-04). An agent that lies at the depth limit is not offered it, except a fork, whose
    prompt must stay its parent's; a call there is told the limit. Children already running are
    left alone when the mount is closed.

    Raises:
      SubagentToolConfigError: A key is wrong, or asks the provider for what it cannot do.
      DuplicateMountError: This host has a mount of that tool name.
      DuplicateToolError: The host has another tool of that name.
    """
    mount = _Mount(host, subagents, _checked(config))
    mount.open()
    return Registration(mount.close)


def _checked(config: SubagentToolConfig | Mapping[str, Any]) -> SubagentToolConfig:
    values = config.model_dump(warnings=False) if isinstance(config, SubagentToolConfig) else config
    try:
        return SubagentToolConfig.model_validate(values)
    except ValidationError as exc:
        problems = {".".join(map(str, e["loc"])) or "config": e["msg"] for e in exc.errors()}
        raise SubagentToolConfigError(problems) from exc


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Mounting:
    """Announced on the host by a new mount; an older one of the same name objects."""

    tool_name: str


@final
class _Mount:
    # Invariant: self._offer is None unless a provider of the configured name is registered

    def __init__(
        self, host: ToolHost, subagents: SubagentService, config: SubagentToolConfig
    ) -> None:
        self._host = host
        self._subagents = subagents
        self._config = config
        self._started: Counter[AgentId] = Counter()
        self._offer: Registration | None = None
        self._listening = ExitStack()

    def open(self) -> None:
        config, host = self._config, self._host
        host.hooks.announce(_Mounting(tool_name=config.tool_name))
        provider = self._subagents.get(config.provider)
        if provider is None:
            logger.info("tool %r waits for provider %r", config.tool_name, config.provider)
        elif problems := self._problems(provider):
            raise SubagentToolConfigError(problems)
        else:
            self._show(provider)
        for registration in (
            host.hooks.on(_Mounting, self._object),
            host.hooks.on(AgentCreated, self._created),
            host.hooks.on(AgentDisposed, self._disposed),
            self._subagents.hooks.on(ProviderAdded, self._added),
            self._subagents.hooks.on(ProviderRemoved, self._removed),
        ):
            self._listening.enter_context(registration)

    def close(self) -> None:
        self._listening.close()
        self._hide()

    def _problems(self, provider: ProviderDescriptor) -> dict[str, str]:
        missing = f"provider {provider.name!r} has no such capability"
        return {
            key: missing
            for key, capability in _GATED.items()
            if getattr(self._config, key) is not None
            and not getattr(provider.capabilities, capability)
        }

    def _show(self, provider: ProviderDescriptor) -> None:
        delegation = Delegation(self._subagents, provider, self._config, self._started)
        self._offer = self._host.tools.register(delegation.tool)

    def _hide(self) -> None:
        offer, self._offer = self._offer, None
        if offer is not None:
            offer.close()

    def _object(self, mounting: _Mounting) -> None:
        if mounting.tool_name == self._config.tool_name:
            raise DuplicateMountError(mounting.tool_name)

    def _added(self, event: ProviderAdded) -> None:
        if event.provider.name != self._config.provider:
            return
        if problems := self._problems(event.provider):
            raise SubagentToolConfigError(problems)  # undoes the registration (B-SEAM-06)
        self._show(event.provider)

    def _removed(self, event: ProviderRemoved) -> None:
        if event.provider.name == self._config.provider:
            self._hide()

    def _created(self, event: AgentCreated) -> None:
        agent, config = event.agent, self._config
        if config.max_depth is None or agent.depth < config.max_depth:
            return
        if agent.session.header.seed_length == 0:  # a fork keeps its parent's prompt as it is
            hidden = ToolRestriction(deny=frozenset({config.tool_name}))  # be it there yet or not
            agent.tools.restrict(hidden)

    def _disposed(self, event: AgentDisposed) -> None:
        self._started.pop(event.agent.id, None)
