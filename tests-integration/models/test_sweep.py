"""A request cancelled at each of its scheduler steps: mid-request, mid-stream and in back-off."""

import pytest
from conversation import ask
from dialects import DIALECTS, Dialect
from fake_endpoint import Body, Reply, fake_endpoint, refusal

from dsh.agent import TextBlock
from dsh.agent.testing import SweepStage, sweep

OK = TextBlock(text="ok")


@pytest.mark.usefixtures("plain_http")
@pytest.mark.parametrize("dialect", DIALECTS, ids=str)
def test_a_request_cancelled_at_any_step_leaves_nothing_behind(
    dialect: Dialect,
) -> None:
    async def answered(body: Body) -> Reply:
        return dialect.answer(OK)

    async def retried_then_streamed(stage: SweepStage) -> None:
        async with fake_endpoint(dialect.refuse) as endpoint, dialect.model(endpoint.url) as model:
            endpoint.replies = [refusal(503, "busy"), dialect.answer(OK)]
            with stage.scope("request"):
                assert (await ask(model)).content == (OK,)
            with stage.settled():
                await endpoint.idle.wait()
                endpoint.answer = answered
                assert (await ask(model)).content == (OK,)

    report = sweep(retried_then_streamed, seeds=(0,), sides=("before",))
    print(report)
    report.check()
