"""One run: start the agent, shake hands, publish, prompt, end the process.

The child is published when it has a session, and gets its prompt afterwards. A result is returned
when nothing of the process group runs; cancelled, it settles at once and the ladder follows.
"""

import logging
import os
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Final, final

import trio

from dsh.agent import AgentId, TextBlock
from dsh.subagent import Publish, ResolvedRequest, RunReporter, SubagentResult
from dsh.subagent_acp._agent import Agent, open_agent
from dsh.subagent_acp._config import AcpConfig
from dsh.subagent_acp._demands import prompt_blocks, refuse_options
from dsh.subagent_acp._desk import PermissionDesk
from dsh.subagent_acp._directories import config_directory, unusable
from dsh.subagent_acp._environment import child_environment, repeatable
from dsh.subagent_acp._errors import AcpError, AcpPromptError, AcpReplyError, AcpStartError
from dsh.subagent_acp._handshake import Handshake
from dsh.subagent_acp._outcome import as_lost, read_outcome, read_partial
from dsh.subagent_acp._protocol import Carriable
from dsh.subagent_acp._session import Session, TurnEnd
from dsh.subagent_acp._structured import Capture, nudge

__all__ = ["serve_agent"]

logger: Final = logging.getLogger("dsh.subagent_acp")

_SAID: Final = 1_000
"""How much of what an agent complained of a message repeats."""


async def serve_agent(
    config: AcpConfig, request: ResolvedRequest, *, publish: Publish, child_id: AgentId
) -> SubagentResult[Any]:
    """Serve one request; see ``dsh.subagent.SubagentProvider.serve``.

    Raises:
      AcpPromptError: the request holds what this agent cannot be given.
      AcpStartError: the agent could not be started, or took no session.
    """
    refuse_options(request.agent_options)
    repeat = partial(repeatable, extra=config.env)
    blocks = prompt_blocks(request)
    cwd = str(config.cwd or request.parent.cwd or os.getcwd())
    if (problem := unusable(cwd)) is not None:
        argv = [repeat(word) for word in config.argv]
        raise AcpStartError(argv, "enter its working directory", problem)
    handshake = Handshake(cwd=cwd, blocks=blocks, model=request.agent_options.model)
    with config_directory(config.config_dir) as directory:
        async with open_agent(
            config.argv,
            cwd=cwd,
            environment=_environment(config, directory),
            graces=config.graces,
            max_line_bytes=config.max_line_bytes,
            repeat=repeat,
        ) as agent:
            opened = await _open(agent, handshake, config)
            if isinstance(opened, Session):
                result = await _converse(agent, opened, config, request, publish(child_id), blocks)
            else:
                result = None
    if result is None:
        assert isinstance(opened, AcpError)
        raise _start_error(config, agent, handshake, opened)
    if agent.process.survived:
        result = as_lost(result, agent.process.pid)
    if result.stop_reason in ("error", "lost"):
        logger.error("child %r of %r: %s", child_id, config.provider_name, result.detail)
    return result


def _environment(config: AcpConfig, directory: str | None) -> dict[str, str]:
    told = {} if directory is None else dict.fromkeys(config.config_dir_variables, directory)
    return child_environment(os.environ, told | config.env, inherit=config.inherit_env)


async def _open(agent: Agent, handshake: Handshake, config: AcpConfig) -> Session | AcpError:
    """Return a session, or why there is none."""
    with trio.move_on_after(config.startup_timeout):
        try:
            session_id = await handshake.run(agent.connection)
        except AcpError as exc:
            return exc
        return Session(agent.connection, session_id, max_output_bytes=config.max_output_bytes)
    return AcpReplyError(
        handshake.step, f"nothing for {config.startup_timeout:g} s (startup_timeout)"
    )


def _start_error(
    config: AcpConfig, agent: Agent, handshake: Handshake, failure: AcpError
) -> AcpError:
    """Return what the caller of ``start`` gets, now that it is known how the process ended."""
    if isinstance(failure, AcpPromptError):
        return failure
    error = AcpStartError(
        [repeatable(word, config.env) for word in config.argv],
        handshake.step,
        str(failure),
        exit_status=agent.process.exit_status,
        said=_said(config, agent),
    )
    error.__cause__ = failure
    return error


def _said(config: AcpConfig, agent: Agent) -> str:
    """Return the end of what the agent complained of, or of what it said that is no protocol."""
    said = agent.process.stderr_tail or "\n".join(agent.connection.noise)
    return repeatable(said, config.env)[-_SAID:].strip()


async def _converse(
    agent: Agent,
    session: Session,
    config: AcpConfig,
    request: ResolvedRequest,
    report: RunReporter,
    blocks: tuple[Carriable, ...],
) -> SubagentResult[Any]:
    """Prompt until there is an answer, and return what came of it."""
    capture = Capture(request) if request.output_schema is not None else None
    async with trio.open_nursery() as approvals:
        session.tell = report.progress
        session.desk = PermissionDesk(
            config.permission,
            agent.connection,
            nursery=approvals,
            tell=report.progress,
            repeat=partial(repeatable, extra=config.env),
        )
        agent.connection.peer = session
        with _SettledByCancellation(session, report):
            end = await _answer(session, blocks, capture, config.structured_nudge_retries)
        session.desk.close()
        approvals.cancel_scope.cancel("the conversation is over")
    result = read_outcome(session, end, capture)
    if result.detail is not None:
        result = replace(result, detail=repeatable(result.detail, config.env))
    said = _said(config, agent) if end.failure is not None else ""
    return replace(result, detail=f"{result.detail}; it said: {said}") if said else result


async def _answer(
    session: Session, blocks: tuple[Carriable, ...], capture: Capture | None, retries: int
) -> TurnEnd:
    end = await session.prompt(blocks)
    while capture is not None and end.reason == "end_turn":
        if capture.read(session.record.text) or not retries:
            break
        retries -= 1
        end = await session.prompt((TextBlock(text=nudge(capture.violations)),))
    return end


@final
class _SettledByCancellation:
    """Settles the run in the moment a cancellation from outside leaves the block (B-ACP-10)."""

    def __init__(self, session: Session, report: RunReporter) -> None:
        self._session = session
        self._report = report

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if isinstance(error, trio.Cancelled):
            left = read_partial(self._session)
            self._session.cancel()
            self._report.partial(left)
            self._report.settle_cancelled(error)
