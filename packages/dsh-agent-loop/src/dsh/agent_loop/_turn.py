"""A turn and its steps: the loop.

A turn serves a batch of prompts. Each of its steps is one model request and the tool calls that
the answer asks for. It ends when a step made no calls and nobody wants another, or when it is
stopped, cut, cancelled, out of steps, or failed; whatever ends it, its log is balanced.
"""

import trio

from dsh.agent import (
    CONTINUATION,
    PRE_STEP,
    STEP_RESULT,
    TURN_STOP,
    Continuation,
    Message,
    StepEnded,
    StepStarted,
    TextBlock,
)
from dsh.agent_loop._asking import answer, assembled, request_header
from dsh.agent_loop._calls import make_calls
from dsh.agent_loop._open_turn import COMPLETED, OpenTurn, Outcome
from dsh.agent_loop._prompts import admit

__all__ = ["run_turn"]


@trio.lowlevel.enable_ki_protection
async def run_turn(turn: OpenTurn) -> None:
    """Take *turn* from its start to its end in the log.

    Returns however the turn went; only its task's own cancellation, and what is no ``Exception``,
    passes through, after the log was closed.
    """
    outcome: Outcome | None = None
    turn.start()
    try:
        with turn.scope:
            outcome = await admit(turn)
            while outcome is None:
                outcome = await _take_step(turn) or await _decide_end(turn)
    except Exception as error:  # noqa: BLE001 - an error is contained in its turn (B-AGT-46)
        outcome = turn.failure(error)
    finally:
        turn.end(outcome)


async def _take_step(turn: OpenTurn) -> Outcome | None:
    """One request and its tool calls; returns why the turn ends here, if it must."""
    if turn.step == turn.max_steps:
        steps = "1 step" if turn.max_steps == 1 else f"{turn.max_steps} steps"
        return Outcome("max_steps", f"the turn was ended after {steps}")
    turn.step += 1
    await trio.lowlevel.checkpoint_if_cancelled()
    turn.deliver()
    assembly = await assembled(turn.agent)
    if turn.hooks.hears(PRE_STEP):
        for context in await turn.hooks.run_filter(PRE_STEP, (), turn.context):
            turn.log_context(context)
    turn.log(StepStarted(turn=turn.number, step=turn.step))
    try:
        response = await answer(turn, await request_header(turn, assembly))
        if turn.hooks.hears(STEP_RESULT):
            response = await turn.hooks.run_filter(STEP_RESULT, response, turn.context)
        calls = turn.log_answer(response)
        if response.finish_reason in ("max_tokens", "refusal"):
            return Outcome(response.finish_reason, response.detail, response.code)
        turn.called = bool(calls)
        if calls:
            await make_calls(turn, calls)
    finally:
        turn.log(StepEnded(turn=turn.number, step=turn.step))
    return None


async def _decide_end(turn: OpenTurn) -> Outcome | None:
    """Whether the turn is over after a step that did not end it (B-AGT-35 to 37)."""
    await trio.lowlevel.checkpoint_if_cancelled()
    go_on = turn.called or turn.is_steered
    if turn.hooks.hears(CONTINUATION):
        verdict = await turn.hooks.run_filter(CONTINUATION, Continuation(go_on=go_on), turn.context)
        go_on = verdict.go_on
        if go_on and verdict.reason is not None:
            content = (TextBlock(text=verdict.reason),)
            message = Message(role="user", content=content, source="continuation")
            turn.agent.inbox.add_steering(message)
    if turn.hooks.hears(TURN_STOP) and turn.hooks.stopped(TURN_STOP, turn.context):
        turn.stop()
        return COMPLETED
    await trio.lowlevel.checkpoint_if_cancelled()
    return None if go_on or turn.is_steered else COMPLETED
