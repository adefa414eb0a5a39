"""What a run is made of, put together; whatever it does is done by what is put together."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import final

import trio

from dsh.agent import PERSONA, AgentOptions, Section, SessionId
from dsh.agent_loop import Host, open_host
from dsh.cli._keeping import Keeping
from dsh.cli._model_choice import ModelSource
from dsh.cli._provider_choice import ProviderChoice, choose_provider
from dsh.cli._record import record_delegations
from dsh.cli._user import User
from dsh.session_jsonl import open_sessions
from dsh.subagent import SubagentService
from dsh.tool_subagent import SubagentToolConfig, mount_subagent_tool
from dsh.tools_files import file_tools

__all__ = ["AGENT_PROVIDER", "Composition", "Parts", "composed"]

AGENT_PROVIDER = "spawn"
"""What the user's own agent runs on."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a host is to be made of."""

    model: ModelSource
    providers: tuple[ProviderChoice, ...]
    """What children run on, beside ``spawn``, which is always there."""
    delegation: tuple[SubagentToolConfig, ...]
    """The tools to delegate with."""
    tools: Path | None = None
    """What the file tools show."""
    tool_names: tuple[str, ...] = ()
    """Which of the file tools there are; all where none is named."""
    log: Path | None = None
    """Where logs are kept."""
    max_parallel: int | None = None
    max_steps: int | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """A host that runs, its backends, and who talks to it."""

    host: Host
    subagents: SubagentService
    user: User
    lost: Mapping[SessionId, str]
    """Which logs were not kept whole, and why; known of each once its agent has ended."""


@asynccontextmanager
async def composed(parts: Parts) -> AsyncGenerator[Composition]:
    """Open a host of *parts*; leaving ends every agent it still has and closes what was opened.

    Nothing is asked of the model before this has been entered, so whatever cannot be had (a log
    directory, a key, a backend) is known by then.

    Raises:
      HarnessError: a part cannot be had; nothing stays behind.
    """
    sessions = open_sessions(parts.log) if parts.log is not None else nullcontext()
    async with sessions as store, parts.model.open() as model:
        options = AgentOptions(
            model=parts.model.name,
            max_steps=parts.max_steps,
            max_parallel_tool_calls=parts.max_parallel,
        )
        kept = None if store is None else Keeping(store)
        async with open_host(options=options, sessions=kept) as host:
            host.models.register(model, parts.model.name)
            host.prompt.register(Section(name=PERSONA, text=_persona(), order=0))
            for tool in file_tools(parts.tools) if parts.tools is not None else ():
                if tool.name in parts.tool_names or not parts.tool_names:
                    host.tools.register(tool)
            record_delegations(host)
            subagents = SubagentService()
            chosen = {each.name: each for each in parts.providers}
            for each in {AGENT_PROVIDER: choose_provider(AGENT_PROVIDER), **chosen}.values():
                subagents.register(each.make(host))
            for config in parts.delegation:
                mount_subagent_tool(host, subagents, config)
            async with trio.open_nursery() as nursery:
                cwd = str((parts.tools or Path()).absolute())
                user = User(nursery, host.hooks, cwd=cwd)
                lost = {} if kept is None else kept.lost
                yield Composition(host=host, subagents=subagents, user=user, lost=lost)


def _persona() -> str:
    text = files("dsh.cli").joinpath("persona.md").read_text(encoding="utf-8")
    return " ".join(text.split())
