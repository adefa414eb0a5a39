"""The mock: deterministic answers, found and configured like any other backend."""

from typing import Any

import pytest
import trio
from pydantic import ValidationError

from dsh.agent import TextBlock
from dsh.subagent import (
    RunStarted,
    SubagentService,
    SubagentStartCancelledError,
    SubagentStartRequest,
    UnsupportedCapabilityError,
    discover_providers,
)
from dsh.subagent.testing import ScriptedParent
from dsh.subagent_mock import MockConfig, ScriptedProvider, factory, hang, reply

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def mock(**settings: Any) -> SubagentService:
    service = SubagentService()
    service.register(factory.create(None, MockConfig(**settings)))
    return service


async def ask(service: SubagentService, **fields: Any) -> Any:
    async with ScriptedParent() as parent:
        request: SubagentStartRequest[Any] = SubagentStartRequest(
            prompt="go", parent=parent, **fields
        )
        return await service.run("mock", request)


@pytest.mark.guarantee("B-MOCK-01", "B-MOCK-03")
async def test_it_answers_one_block_of_text_under_a_counted_id() -> None:
    """The configured text and stop reason come back, and ids depend on nothing but the count."""
    service = mock(reply="as told", stop_reason="refusal")
    first, second = await ask(service), await ask(service)
    assert (first.output, first.stop_reason) == ((TextBlock(text="as told"),), "refusal")
    assert (first.child_id, second.child_id) == ("mock-1", "mock-2")


@pytest.mark.guarantee("B-MOCK-02")
async def test_a_structured_value_is_given_to_who_asks_for_one() -> None:
    """Without a schema there is no value, and without the capability there is no asking."""
    service = mock(structured={"n": 3})
    assert (await ask(service)).structured is None
    assert (await ask(service, output_schema=SCHEMA)).structured == {"n": 3}
    with pytest.raises(UnsupportedCapabilityError):
        await ask(mock(structured={"n": 3}, output_schema=False), output_schema=SCHEMA)


@pytest.mark.guarantee("B-MOCK-04")
async def test_cancelled_before_or_as_it_starts_it_publishes_nothing() -> None:
    """A cancellation that is there when the mock is started leaves no run and no event."""
    for when in ("before", "with the start"):
        service, scope = mock(), trio.CancelScope()
        async with ScriptedParent() as parent, trio.open_nursery() as nursery:
            request = SubagentStartRequest(prompt="go", parent=parent, cancel_scope=scope)
            if when == "before":
                scope.cancel()
            else:
                nursery.start_soon(trio.lowlevel.checkpoint)
                nursery.start_soon(_cancel, scope)
            with pytest.raises(SubagentStartCancelledError):
                await service.start("mock", request)
            assert parent.events == []


async def _cancel(scope: trio.CancelScope) -> None:
    scope.cancel()


@pytest.mark.guarantee("B-MOCK-05")
@pytest.mark.parametrize("how", ["cancel", "close"])
async def test_cancelled_or_closed_before_it_has_answered_it_is_aborted(how: str) -> None:
    """An answer that was still to come is not given any more."""
    service = mock()
    service.register(ScriptedProvider(hang(), name="slow"))
    async with ScriptedParent() as parent:
        request = SubagentStartRequest(prompt="go", parent=parent)
        if how == "cancel":
            parent.hooks.on(RunStarted, lambda _: request.cancel_scope.cancel())
            run = await service.start("mock", request)
        else:
            run = await service.start("slow", request)
        await run.aclose()
        assert (await run.result()).stop_reason == "aborted"


@pytest.mark.guarantee("B-MOCK-06")
@pytest.mark.parametrize(
    ("capability", "field"),
    [
        ("output_schema", {"output_schema": SCHEMA}),
        ("depth_limit", {"max_depth": 1}),
        ("persona", {"persona": "terse"}),
    ],
)
async def test_each_capability_can_be_switched_off(capability: str, field: Any) -> None:
    """A host's handling of a refusal can be tried for every field on its own."""
    with pytest.raises(UnsupportedCapabilityError, match=capability):
        await ask(mock(**{capability: False}), **field)


@pytest.mark.guarantee("B-MOCK-07")
def test_it_is_a_plugin_that_comes_and_goes() -> None:
    """Installed it is found by name, registered it can be taken back, and nothing of it stays."""
    made = discover_providers()["mock"].load()
    config = made.config_model.model_validate({"provider_name": "stand-in"})
    service = SubagentService()
    host: Any = None
    with service.register(made.create(host, config)):
        assert service.list() == ("stand-in",)
    assert service.list() == ()


def test_a_misspelt_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="replay"):
        MockConfig.model_validate({"replay": "done"})


def test_scripts_are_at_hand() -> None:
    assert callable(hang())
    assert callable(reply())
