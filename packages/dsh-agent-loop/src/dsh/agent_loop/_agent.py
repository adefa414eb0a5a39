"""An agent's life: opened, driven, ended to quiescence."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, final
from uuid import uuid4

import trio

from dsh.agent import (
    AgentDisposedError,
    AgentId,
    AgentSpec,
    AgentStatus,
    AgentStatusChanged,
    ContentBlock,
    DelegatedUsage,
    Hooks,
    ManagedAgent,
    Message,
    MessageQueued,
    Prompt,
    SelfWaitError,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    SessionPrefix,
    SessionStore,
    ToolChoice,
    ToolRegistry,
    TurnFailed,
    Usage,
)
from dsh.agent_loop import _inbox
from dsh.agent_loop._errors import raise_bare
from dsh.agent_loop._open_turn import OpenTurn
from dsh.agent_loop._turn import run_turn

if TYPE_CHECKING:
    from dsh.agent_loop._host import Host

__all__ = ["LoopAgent"]

logger = logging.getLogger("dsh.agent_loop")


@final
class LoopAgent:
    """An agent of this loop; see ``dsh.agent.Agent`` for what each member is for.

    Its turns run one after the other: in the task that ``serve``s, or in whichever waits for it to
    be idle. Its layers of hooks, tools and prompt are made when somebody asks for them.
    """

    __slots__ = (
        "_adopted",
        "_changed",
        "_driver",
        "_has_server",
        "_hooks",
        "_is_over",
        "_is_unflushed",
        "_nursery",
        "_nursery_manager",
        "_prompt",
        "_tools",
        "_wake",
        "cwd",
        "depth",
        "end_reason",
        "header",
        "host",
        "id",
        "inbox",
        "max_parallel_tool_calls",
        "max_steps",
        "model_requests",
        "options",
        "session",
        "status",
        "tool_calls",
        "turn",
        "usage",
    )

    # Invariant: self.turn is None unless self._driver is not None

    def __init__(self, spec: AgentSpec, host: "Host") -> None:
        self.id = spec.id or AgentId(uuid4().hex)
        self.host = host
        self.session = spec.session or _new_session(spec, self.id, host.sessions)
        self.options, self.max_steps, self.max_parallel_tool_calls = host.resolve(spec.options)
        self.cwd = spec.cwd
        self.depth = spec.depth
        self.header = spec.header
        self.status: AgentStatus = "idle"
        self.end_reason: str | None = None
        self.usage = Usage()
        self.model_requests = 0
        self.tool_calls = 0
        self.inbox = _inbox.Inbox()
        self.turn: OpenTurn | None = None
        self._driver: tuple[trio.lowlevel.Task, int] | None = None
        self._has_server = False
        self._is_over = False
        self._is_unflushed = False
        self._hooks: Hooks | None = None
        self._tools: ToolRegistry | None = None
        self._prompt: Prompt | None = None
        self._adopted: set[trio.CancelScope] | None = None
        self._nursery: trio.Nursery | None = None
        self._changed: trio.Event | None = None
        self._wake: trio.Event | None = None

    # -- its layers

    @property
    def hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks(self.host.hooks)
            if self.turn is not None:
                self.turn.hooks = self._hooks
        return self._hooks

    @property
    def tools(self) -> ToolRegistry:
        if self._tools is None:
            self._tools = ToolRegistry(self.host.tools)
        return self._tools

    @property
    def prompt(self) -> Prompt:
        if self._prompt is None:
            self._prompt = Prompt(self.host.prompt)
        return self._prompt

    @property
    def hooks_in_force(self) -> Hooks:
        """Its own layer, or its host's where it has none."""
        return self._hooks or self.host.hooks

    @property
    def tools_in_force(self) -> ToolRegistry:
        """Its own layer, or its host's where it has none."""
        return self._tools or self.host.tools

    @property
    def prompt_in_force(self) -> Prompt:
        """Its own layer, or its host's where it has none."""
        return self._prompt or self.host.prompt

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
        self.inbox.prompts.append(_inbox.Prompt(message, tool_choice))
        self._announce(message, steering=False)

    def steer(self, content: str | Sequence[ContentBlock], *, source: str = "user") -> None:
        if self.turn is None:
            self.send(content, source=source)
            return
        message = self._accept(content, source)
        if not self.turn.is_stopped:
            self.inbox.steering.append(message)
            self._announce(message, steering=True)

    @trio.lowlevel.enable_ki_protection
    def inject(self, content: str | Sequence[ContentBlock], *, source: str) -> None:
        self.inbox.context.append(self._accept(content, source))
        if self.turn is None or not self.turn.is_open:
            OpenTurn(self).log_injection()
            self._is_unflushed = True
            self._wake_server()

    def _accept(self, content: str | Sequence[ContentBlock], source: str) -> Message:
        message = _inbox.user_message(content, source)
        if self.status == "disposed":
            raise AgentDisposedError(self.id)
        return message

    def _announce(self, message: Message, *, steering: bool) -> None:
        self.dispatch(MessageQueued(agent=self, message=message, steering=steering))
        self._wake_server()

    def _wake_server(self) -> None:
        if self._wake is not None:
            self._wake.set()

    def cancel(self, reason: str = "cancelled") -> None:
        self.inbox.forget()
        if self.turn is not None:
            self.turn.cancel(reason)

    def dispatch(self, event: object) -> None:
        if isinstance(event, DelegatedUsage):
            self.usage += event.usage
            self.model_requests += event.model_requests
            self.tool_calls += event.tool_calls
        self.hooks_in_force.dispatch(event)

    def count(self, usage: Usage) -> None:
        """Add what one request cost."""
        self.usage += usage

    # -- driving it

    async def serve(self) -> None:
        self._has_server = True
        while True:
            if self._has_work():
                await self._drive()
            else:
                self._wake = trio.Event()
                await self._wake.wait()
                self._wake = None

    async def wait_idle(self) -> None:
        if self._is_inside(trio.lowlevel.current_task()):
            raise SelfWaitError(self.id, "the rest")
        await trio.lowlevel.checkpoint_if_cancelled()
        while self._is_busy():
            if self._driver is None and not self._has_server and self.status != "disposed":
                await self._drive()
            else:
                self._changed = self._changed or trio.Event()
                await self._changed.wait()

    def _is_busy(self) -> bool:
        if self.status == "disposed":
            return not self._is_over
        return self._driver is not None or self._has_work()

    def _has_work(self) -> bool:
        return self._is_unflushed or bool(self.inbox.prompts)

    @trio.lowlevel.enable_ki_protection
    async def _drive(self) -> None:
        """Run turns in the calling task until nothing is queued."""
        task = trio.lowlevel.current_task()
        self._driver = (task, len(task.child_nurseries))
        if self.inbox.prompts:
            self._become("running")
        try:
            while self.status != "disposed" and self._has_work():
                if self.inbox.prompts:
                    await self._take_turn()
                else:
                    await self._flush()
        finally:
            self._driver = None
            if self.status == "running":
                self._become("idle")
            self._note_change()

    async def _take_turn(self) -> None:
        self.turn = OpenTurn(self)
        try:
            await run_turn(self.turn, self.inbox.take_prompts())
            await self._flush()
        finally:
            self.turn = None
            self.inbox.requeue_steering()

    async def _flush(self) -> None:
        """Have the log kept; that it was not changes no outcome (B-AGT-41)."""
        self._is_unflushed = False
        try:
            await self.session.flush()
        except Exception as error:
            logger.exception("the log of agent %s could not be flushed", self.id)
            self.dispatch(TurnFailed(agent=self, turn=self.session.turns, step=0, error=error))

    def _is_inside(self, task: trio.lowlevel.Task) -> bool:
        """Whether *task* runs something of the open turn: its driver, or a task below that."""
        if self._driver is None:
            return False
        driver, outer_nurseries = self._driver
        if task is driver:
            return True
        while (nursery := task.parent_nursery) is not None:
            task = nursery.parent_task
            if task is driver:
                return nursery in driver.child_nurseries[outer_nurseries:]
        return False

    def _become(self, status: AgentStatus) -> None:
        self.status = status
        self.dispatch(AgentStatusChanged(agent=self, status=status))

    def _note_change(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    # -- its beginning and its end

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        if self.status == "disposed":
            raise AgentDisposedError(self.id)
        if self._adopted is None:
            self._adopted = set()
        self._adopted.add(cancel_scope)
        return partial(self._adopted.discard, cancel_scope)

    def end(self, reason: str) -> None:
        if self.status != "disposed":
            self.end_reason = reason
            self.inbox.forget()
            self._become("disposed")
            for scope in self._adopted or ():
                scope.cancel(reason)
            if self.turn is not None:
                self.turn.scope.cancel(reason)
            if self._nursery is not None:
                self._nursery.cancel_scope.cancel(reason)

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> "LoopAgent":
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
            await self._until_undriven()
            return await self._nursery_manager.__aexit__(kind, error, traceback)
        except BaseExceptionGroup as group:
            raise_bare(group)
        finally:
            await self._close_log()
            self._is_over = True
            self._note_change()

    async def _close_log(self) -> None:
        try:
            await self.session.aclose()
        except Exception:
            logger.exception("the log of agent %s could not be closed", self.id)

    async def _until_undriven(self) -> None:
        """Wait for the turn that a stranger's task drives, by waiting for the agent to be idle."""
        with trio.CancelScope(shield=True):
            while self._driver is not None:
                self._changed = self._changed or trio.Event()
                await self._changed.wait()

    def __repr__(self) -> str:
        return f"<LoopAgent {self.id}: {self.status}>"


def _new_session(spec: AgentSpec, id: AgentId, store: SessionStore | None) -> Session:
    seed: Sequence[SessionEvent] = ()
    if isinstance(spec.seed, SessionPrefix):
        seed = spec.seed.events
    elif spec.seed is not None:
        seed = spec.seed
    header = SessionHeader(
        id=SessionId(id),
        cwd=spec.cwd,
        parent_session=spec.parent.session.header.id if spec.parent is not None else None,
        seed_length=len(seed),
    )
    sink = store.create(header, seed) if store is not None else None
    return Session(header, seed=spec.seed, sink=sink)


if TYPE_CHECKING:
    _: type[ManagedAgent] = LoopAgent
