"""How a turn's prompts get into the log: each is let through, replaced, or blocked."""

from dsh.agent import PROMPT_SUBMIT, PromptBlocked, PromptSubmission, UserMessage
from dsh.agent_loop._open_turn import OpenTurn, Outcome

__all__ = ["admit"]


async def admit(turn: OpenTurn) -> Outcome | None:
    """Judge and log the turn's prompts; returns its end if none was let through (B-AGT-25).

    If a hook raises, the prompts not yet judged open the next turn.
    """
    prompts, turn.prompts = turn.prompts, ()
    admitted, reason = False, None
    for index, prompt in enumerate(prompts):
        submission = PromptSubmission(message=prompt.message)
        if turn.hooks.hears(PROMPT_SUBMIT):
            try:
                submission = await turn.hooks.run_filter(PROMPT_SUBMIT, submission, turn.agent)
            except Exception:  # whatever a hook raised passes on
                turn.agent.inbox.put_back(prompts[index + 1 :])
                raise
        if submission.blocked is not None:
            reason = submission.blocked
            turn.log(PromptBlocked(message=submission.message, reason=reason))
            continue
        admitted = True
        if turn.tool_choice == "auto":
            turn.tool_choice = prompt.tool_choice
        turn.log(UserMessage(message=submission.message))
        for message in submission.context:
            turn.log_context(message)
    return None if admitted else Outcome("rejected", reason)
