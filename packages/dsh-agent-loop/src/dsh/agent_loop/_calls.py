"""The tool calls of one response: run in order or together, committed in the model's order."""

from collections.abc import Iterator, Sequence
from typing import Final, final

import trio

from dsh.agent import (
    ContextMessage,
    ImageBlock,
    Message,
    ResultBlock,
    TextBlock,
    ThreadLostError,
    ToolCallBlock,
    ToolCalled,
    ToolResult,
    ToolResultBlock,
    ToolResulted,
    valid_text,
)
from dsh.agent_loop._open_turn import OpenTurn

__all__ = ["make_calls"]

_UNFINISHED: Final = "The call was cancelled: the turn ended before it had finished."
_UNSTARTED: Final = "The call was cancelled: the turn ended before it was started."


async def make_calls(turn: OpenTurn, calls: Sequence[ToolCallBlock]) -> None:
    """Answer every call exactly once, whatever happens.

    Neighbours whose tools say ``concurrent`` run at once, no more than the agent's
    ``max_parallel_tool_calls`` of them; any other call runs alone, after all before it. When the
    turn ends first, a call that had finished keeps its result, and the others are answered as
    cancelled.
    """
    ledger = _Ledger(turn, calls)
    try:
        for batch in _batches(turn, calls):
            await trio.lowlevel.checkpoint_if_cancelled()
            if len(batch) == 1:
                await _work(ledger, iter(batch))
            else:
                pending = iter(batch)  # shared: each worker takes the next call
                async with trio.open_nursery() as nursery:
                    for _ in range(min(len(batch), turn.agent.max_parallel_tool_calls)):
                        nursery.start_soon(_work, ledger, pending)
    finally:
        ledger.close()


def _batches(turn: OpenTurn, calls: Sequence[ToolCallBlock]) -> list[range]:
    """Runs of calls, by position, that may go at once."""
    tools = turn.agent.tools_in_force.visible()
    batches: list[range] = []
    together = False
    for index, call in enumerate(calls):
        tool = tools.get(call.name)
        concurrent = tool is not None and tool.concurrent
        if concurrent and together:
            batches[-1] = range(batches[-1].start, index + 1)
        else:
            batches.append(range(index, index + 1))
        together = concurrent
    return batches


@trio.lowlevel.enable_ki_protection
async def _work(ledger: "_Ledger", pending: Iterator[int]) -> None:
    for index in pending:
        await trio.lowlevel.checkpoint_if_cancelled()
        agent, call = ledger.turn.agent, ledger.note_call(index)
        result = await agent.tools_in_force.execute(call, agent=agent, hooks=agent.hooks_in_force)
        ledger.note_result(index, result)
        if result.code == ThreadLostError.code:
            ledger.turn.lose("".join(b.text for b in result.content if isinstance(b, TextBlock)))


@final
class _Ledger:
    """Which calls were made and what came of them; commits both in the model's order."""

    __slots__ = ("_called", "_calls", "_committed", "_results", "turn")

    # Invariant: self._committed <= self._called <= len(self._calls), and every result before
    # self._committed is in the log

    def __init__(self, turn: OpenTurn, calls: Sequence[ToolCallBlock]) -> None:
        self.turn = turn
        self._calls = calls
        self._called = 0
        self._committed = 0
        self._results: list[ToolResult | None] = [None] * len(calls)

    def note_call(self, index: int) -> ToolCallBlock:
        """Log that the call is made; calls are made in order."""
        call = self._calls[index]
        self.turn.log(ToolCalled(call=call))
        self.turn.agent.count_call()
        self._called = index + 1
        return call

    def note_result(self, index: int, result: ToolResult) -> None:
        """Keep a result, and log all whose turn it is."""
        self._results[index] = result
        while self._committed < self._called and self._results[self._committed] is not None:
            self._commit()

    def close(self) -> None:
        """Answer what is left, then add what tools want the model to know (B-AGT-34)."""
        while self._committed < len(self._calls):
            index = self._committed
            started = index < self._called
            if not started:
                self.turn.log(ToolCalled(call=self._calls[index]))
                self._called = index + 1
            if self._results[index] is None:
                self._results[index] = _cancelled(_UNFINISHED if started else _UNSTARTED)
            self._commit()
        for result in self._results:
            if result is not None and result.context is not None:
                content = (TextBlock(text=valid_text(result.context)),)
                self.turn.log(
                    ContextMessage(message=Message(role="user", content=content, source="tool"))
                )

    def _commit(self) -> None:
        result = self._results[self._committed]
        assert result is not None
        block = ToolResultBlock(
            call_id=self._calls[self._committed].id,
            content=tuple(map(_valid, result.content)),
            is_error=result.is_error,
        )
        self.turn.log(ToolResulted(result=block, code=result.code))
        self._committed += 1


def _valid(block: ResultBlock) -> ResultBlock:
    if isinstance(block, ImageBlock):
        return block
    text = valid_text(block.text)
    return block if text is block.text else TextBlock(text=text)


def _cancelled(text: str) -> ToolResult:
    return ToolResult(content=(TextBlock(text=text),), is_error=True, code="CANCELLED")
