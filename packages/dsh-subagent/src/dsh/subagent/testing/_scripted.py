"""A backend that follows a script: no model, no process, no clock, no randomness.

An *act* is what one child does, from before its publication to its end; any async function of that
shape will do, and the functions here make the usual ones.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import trio

from dsh.agent import AgentId, StopReason, TextBlock, Usage
from dsh.subagent._progress import Progress
from dsh.subagent._provider import Publish, SubagentCapabilities, SubagentProvider
from dsh.subagent._resolved import ResolvedRequest
from dsh.subagent._result import SubagentResult

__all__ = ["EVERYTHING", "Act", "ScriptedProvider", "fail", "hang", "linger", "refuse", "reply"]

EVERYTHING: Final = SubagentCapabilities(
    output_schema=True, depth_limit=True, tool_filter=True, persona=True
)
"""All capabilities on; switch one off with ``dataclasses.replace``."""

Act: TypeAlias = Callable[[ResolvedRequest, Publish, AgentId], Awaitable[SubagentResult[Any]]]
"""What a scripted child does: given its request, how to publish it, and the id to publish."""


def reply(
    text: str = "done",
    *,
    stop_reason: StopReason = "completed",
    structured: object = None,
    detail: str | None = None,
    usage: Usage | None = None,
    progress: Sequence[Progress] = (),
) -> Act:
    """Answer with *text*; *structured* goes along where the request has a schema."""

    async def act(
        request: ResolvedRequest, publish: Publish, child_id: AgentId
    ) -> SubagentResult[Any]:
        await trio.lowlevel.checkpoint()
        report = publish(child_id)
        for event in progress:
            report.progress(event)
        await trio.lowlevel.checkpoint()
        return SubagentResult(
            stop_reason=stop_reason,
            output=(TextBlock(text=text),),
            structured=None if request.output_schema is None else structured,
            detail=detail,
            usage=usage,
        )

    return act


def hang(text: str | None = None) -> Act:
    """Never answer; cancelled, leave *text* as what there was so far."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        await trio.lowlevel.checkpoint()
        report = publish(child_id)
        if text is not None:
            report.partial(_partial(text))
        await trio.sleep_forever()

    return act


def linger(seconds: float) -> Act:
    """Never answer; cancelled, take that many seconds of clean-up that nothing can cut short."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        await trio.lowlevel.checkpoint()
        publish(child_id)
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(seconds)

    return act


def fail(error: BaseException) -> Act:
    """Raise *error* once the child is published."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        await trio.lowlevel.checkpoint()
        publish(child_id)
        await trio.lowlevel.checkpoint()
        raise error

    return act


def refuse(error: BaseException) -> Act:
    """Raise *error* instead of publishing a child."""

    async def act(_: ResolvedRequest, publish: Publish, child_id: AgentId) -> SubagentResult[Any]:
        await trio.lowlevel.checkpoint()
        raise error

    return act


def _partial(text: str) -> SubagentResult[Any]:
    return SubagentResult(stop_reason="aborted", output=(TextBlock(text=text),))


@final
class ScriptedProvider:
    """Serves each start with the next act of its script, the last one again and again.

    ``name``, ``capabilities`` and ``inherits_parent_context`` are what it says of itself.
    ``requests`` are those it was given; ``running`` names the children that exist right now. Ids
    are made of the name and a number, so that a test can spell them out.
    """

    def __init__(
        self,
        *script: Act,
        name: str = "scripted",
        capabilities: SubagentCapabilities = EVERYTHING,
        inherits_parent_context: bool = False,
    ) -> None:
        self.name = name
        self.capabilities = capabilities
        self.inherits_parent_context = inherits_parent_context
        self.requests: list[ResolvedRequest] = []
        self.running: set[AgentId] = set()
        self._script = script or (reply(),)

    async def serve(self, request: ResolvedRequest, *, publish: Publish) -> SubagentResult[Any]:
        """Follow the script; see `SubagentProvider.serve`."""
        act = self._script[min(len(self.requests), len(self._script) - 1)]
        self.requests.append(request)
        child_id = AgentId(f"{self.name}-{len(self.requests)}")
        self.running.add(child_id)
        try:
            return await act(request, publish, child_id)
        finally:
            self.running.discard(child_id)


if TYPE_CHECKING:
    _: type[SubagentProvider] = ScriptedProvider
