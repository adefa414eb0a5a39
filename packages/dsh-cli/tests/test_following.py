"""What is noted of runs as they go on: for the one who watches, and in the parent's log."""

from typing import Any

from dsh.agent import (
    AgentId,
    AgentOptions,
    AgentSpec,
    CustomEvent,
    DelegatedUsage,
    Hooks,
    TextBlock,
    Usage,
)
from dsh.agent.testing import ScriptedModel
from dsh.agent_loop import open_host
from dsh.cli._delegations import Delegation
from dsh.cli._record import ENDED, STARTED, record_delegations
from dsh.cli._watch import Watch
from dsh.subagent import RunEnded, RunStarted, TextProgress, ThoughtProgress

CHILD = AgentId("child")


def test_who_thinks_is_seen_to_think() -> None:
    hooks, seen = Hooks(), list[str]()

    def changed(found: Delegation, news: str) -> None:
        seen.append(f"{found.id} {found.doing} {news}".strip())

    Watch(hooks, changed)
    hooks.dispatch(RunStarted(provider="spawn", child_id=CHILD, parent_id=AgentId("user")))
    hooks.dispatch(TextProgress(child_id=CHILD, text="so"))
    for _ in range(2):
        hooks.dispatch(ThoughtProgress(child_id=CHILD, text="hm"))
    assert seen[1:] == ["child writing", "child thinking"]


async def test_a_parents_log_has_what_its_children_used_where_that_is_known() -> None:
    async with open_host() as host:
        host.models.register(ScriptedModel(), "m")
        record_delegations(host)
        async with host.agents.open(AgentSpec(options=AgentOptions(model="m"))) as parent:
            for counted in (True, False):
                hooks = parent.hooks
                hooks.dispatch(RunStarted(provider="acp", child_id=CHILD, parent_id=parent.id))
                if counted:
                    used = Usage(output_tokens=2)
                    hooks.dispatch(
                        DelegatedUsage(child_id=CHILD, usage=used, model_requests=1, tool_calls=0)
                    )
                output = (TextBlock(text="3"),)
                hooks.dispatch(
                    RunEnded(
                        provider="acp",
                        child_id=CHILD,
                        parent_id=parent.id,
                        stop_reason="completed",
                        output=output,
                    )
                )
            noted: list[Any] = [e for e in parent.session.events if isinstance(e, CustomEvent)]
    assert [each.kind for each in noted] == [STARTED, ENDED] * 2
    assert noted[1].data["usage"]["output_tokens"] == 2
    assert noted[1].data["model_requests"] == 1
    assert noted[3].data == {
        "child": CHILD,
        "stop_reason": "completed",
        "detail": None,
        "text": "3",
    }
