"""An agent's life: opened, driven, ended to quiescence."""

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Final, NoReturn, final

import trio

from dsh.agent import (
    AgentDisposedError,
    AgentId,
    AgentSpec,
    AgentStatus,
    AgentStatusChanged,
    ContentBlock,
    DelegatedUsage,
    ManagedAgent,
    Message,
    MessageQueued,
    Session,
    SessionHeader,
    SessionId,
    SessionPrefix,
    ToolChoice,
    Usage,
)
from dsh.agent_loop import _inbox
from dsh.agent_loop._driver import Driver
from dsh.agent_loop._errors import raise_bare
from dsh.agent_loop._host import Host
from dsh.agent_loop._layers import LayeredAgent
from dsh.agent_loop._open_turn import OpenTurn
from dsh.agent_loop._taker import TurnTaker

__all__ = ["LoopAgent"]

logger = logging.getLogger("dsh.agent_loop")

_NO_USAGE: Final = Usage()


@final
class LoopAgent(LayeredAgent):
    """An agent of this loop; see ``dsh.agent.Agent`` for what each member is for.

    Its turns are run by its ``Driver``.
    """

    __slots__ = (
        "_adopted",
        "_is_resumed",
        "_nursery",
        "_nursery_manager",
        "cwd",
        "depth",
        "driver",
        "end_reason",
        "header",
        "id",
        "inbox",
        "max_parallel_tool_calls",
        "max_steps",
        "model_requests",
        "options",
        "session",
        "status",
        "tool_calls",
        "usage",
    )

    def __init__(self, spec: AgentSpec, host: Host) -> None:
        super().__init__(host)
        resumed = spec.session
        self.id = spec.id or AgentId(
            resumed.header.id if resumed is not None else os.urandom(16).hex()
        )
        self.session = resumed or _new_session(spec, self.id)
        self.options, self.max_steps, self.max_parallel_tool_calls = host.resolve(spec.options)
        self._is_resumed = resumed is not None
        self.cwd = self.session.header.cwd
        self.depth = spec.depth
        self.header = spec.header
        self.status: AgentStatus = "idle"
        self.end_reason: str | None = None
        self.usage = _NO_USAGE
        self.model_requests = 0
        self.tool_calls = 0
        self.inbox = _inbox.Inbox()
        self.driver = Driver(self)
        self._adopted: set[trio.CancelScope] | None = None
        self._nursery: trio.Nursery | None = None

    @property
    def nursery(self) -> trio.Nursery:
        if self._nursery is None:
            raise AgentDisposedError(self.id)
        return self._nursery

    # -- what is said to it

    def send(
        self,
        content: str | Sequence[ContentBlock],
        *,
        source: str = "user",
        tool_choice: ToolChoice = "auto",
    ) -> None:
        message = self._accept(content, source)
        self.inbox.add_prompt(message, tool_choice)
        self._announce(message, steering=False)

    def steer(self, content: str | Sequence[ContentBlock], *, source: str = "user") -> None:
        if self.driver.turn is None:
            self.send(content, source=source)
            return
        message = self._accept(content, source)
        if not self.driver.turn.is_stopped:
            self.inbox.add_steering(message)
            self._announce(message, steering=True)

    @trio.lowlevel.enable_ki_protection
    def inject(self, content: str | Sequence[ContentBlock], *, source: str) -> None:
        self.inbox.add_context(self._accept(content, source))
        if self.driver.turn is None or not self.driver.turn.is_open:
            OpenTurn(self).log_injection()
            self.driver.note_work(unflushed=True)

    def _accept(self, content: str | Sequence[ContentBlock], source: str) -> Message:
        message = _inbox.user_message(content, source)
        if self.status == "disposed":
            raise AgentDisposedError(self.id)
        return message

    def _announce(self, message: Message, *, steering: bool) -> None:
        if self.hooks_in_force.hears(MessageQueued):
            self.dispatch(MessageQueued(agent=self, message=message, steering=steering))
        self.driver.note_work()

    def cancel(self, reason: str = "cancelled") -> None:
        self.inbox.forget()
        if self.driver.turn is not None:
            self.driver.turn.cancel(reason)
        self.driver.note_forgotten()

    def dispatch(self, event: object) -> None:
        if isinstance(event, DelegatedUsage):
            self.usage += event.usage
            self.model_requests += event.model_requests
            self.tool_calls += event.tool_calls
        self.hooks_in_force.dispatch(event)

    def count_request(self) -> None:
        """Add a model request."""
        self.model_requests += 1

    def count_call(self) -> None:
        """Add a tool call."""
        self.tool_calls += 1

    def count_usage(self, usage: Usage) -> None:
        """Add what one request cost."""
        self.usage += usage

    # -- driving it

    async def serve(self) -> None:
        await self.driver.serve()

    async def wait_idle(self) -> None:
        await self.driver.wait_idle()

    def become(self, status: AgentStatus) -> None:
        """Take on a status, and say so."""
        self.status = status
        if self.hooks_in_force.hears(AgentStatusChanged):
            self.dispatch(AgentStatusChanged(agent=self, status=status))

    # -- its beginning and its end

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        if self.status == "disposed":
            raise AgentDisposedError(self.id)
        if self._adopted is None:
            self._adopted = set()
        self._adopted.add(cancel_scope)
        return partial(self._adopted.discard, cancel_scope)

    @trio.lowlevel.enable_ki_protection
    def end(self, reason: str) -> None:
        if self.status == "disposed":
            return
        assert self._nursery is not None, "an agent that was never open never ends"
        self.end_reason = reason
        self.inbox.forget()
        try:
            self.become("disposed")
        except BaseException as exc:  # noqa: BLE001 - a listener's SystemExit: it leaves with the agent
            self._nursery.start_soon(_raise, exc)
        for scope in self._adopted or ():
            scope.cancel(reason)
        if self.driver.turn is not None:
            self.driver.turn.scope.cancel(reason)
        self._nursery.cancel_scope.cancel(reason)

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> "LoopAgent":
        if self.host.sessions is not None and not self._is_resumed:
            self.session.keep_in(self.host.sessions)
        self._nursery_manager = trio.open_nursery()
        self._nursery = await self._nursery_manager.__aenter__()
        return self

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        self.end("the agent was closed")
        try:
            await self.driver.wait_undriven()
            return await self._nursery_manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            raise_bare(group)
        finally:
            await self._close_log()
            self.driver.note_over()

    async def _close_log(self) -> None:
        try:
            await self.session.aclose()
        except Exception:  # a sink is foreign code, and the agent has ended
            logger.exception("the log of agent %s could not be closed", self.id)

    def __repr__(self) -> str:
        return f"<LoopAgent {self.id}: {self.status}>"


async def _raise(error: BaseException) -> NoReturn:
    raise error


def _new_session(spec: AgentSpec, id: AgentId) -> Session:
    seed = spec.seed.events if isinstance(spec.seed, SessionPrefix) else spec.seed
    header = SessionHeader(
        id=SessionId(id),
        cwd=spec.cwd,
        parent_session=spec.parent.session.header.id if spec.parent is not None else None,
        seed_length=len(seed) if seed is not None else 0,
    )
    return Session(header, seed=spec.seed)


if TYPE_CHECKING:
    _: type[ManagedAgent] = LoopAgent
    __: type[TurnTaker] = LoopAgent
