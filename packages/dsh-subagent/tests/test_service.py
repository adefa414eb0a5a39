"""Registering providers, and what is refused before any of them is called."""

from dataclasses import dataclass, replace
from typing import Any

import pytest
import trio
from pydantic import BaseModel

from dsh.agent import AgentOptions, HarnessError, ImageBlock, TextBlock, ToolFilter
from dsh.subagent import (
    CancelScopeError,
    DuplicateProviderError,
    ParentDisposedError,
    ProviderAdded,
    ProviderRemoved,
    SubagentError,
    SubagentResult,
    SubagentService,
    SubagentStartCancelledError,
    SubagentStartError,
    SubagentStartRequest,
    UnknownProviderError,
    UnsupportedCapabilityError,
)
from dsh.subagent._errors import described
from dsh.subagent.testing import (
    EVERYTHING,
    ScriptedParent,
    ScriptedProvider,
    hang,
    refuse,
    reply,
)
from dsh.tools_jsonschema import OutputSchemaError, StructuredValueError

NOTHING = replace(
    EVERYTHING, output_schema=False, depth_limit=False, tool_filter=False, persona=False
)
FIELDS: dict[str, Any] = {
    "output_schema": {"type": "object", "properties": {}, "additionalProperties": False},
    "max_depth": 2,
    "tool_filter": ToolFilter(deny=("bash",)),
    "persona": "You count files.",
}


# registering


@pytest.mark.guarantee("B-SEAM-01", "B-SEAM-02", "B-SEAM-04")
def test_providers_coexist_under_their_names() -> None:
    """Names are listed as they came, an unknown one gives nothing, a freed one is free again."""
    service = SubagentService()
    with service.register(ScriptedProvider(name="b")), service.register(ScriptedProvider(name="a")):
        assert service.list() == ("b", "a")
        assert service.get("c") is None
    assert service.list() == ()
    service.register(ScriptedProvider(name="b"))
    assert service.list() == ("b",)


@pytest.mark.guarantee("B-SEAM-03")
async def test_a_taken_name_is_refused_and_keeps_its_provider(seam: Any) -> None:
    """A second provider of a name is refused by code, and the first goes on serving it."""
    first = seam.script(reply("first"))
    with pytest.raises(DuplicateProviderError, match="'scripted' is already registered") as caught:
        seam.script(reply("second"))
    assert caught.value.code == "DUPLICATE_PROVIDER"
    assert (await seam.service.run("scripted", seam.request())).text == "first"
    assert len(first.requests) == 1


@pytest.mark.guarantee("B-SEAM-05", "B-SEAM-27")
async def test_a_removed_provider_takes_no_starts_and_its_runs_live_on(seam: Any) -> None:
    """The end of a registration ends no run; its holder still has it, and only new starts fail."""
    registration = seam.service.register(ScriptedProvider(hang("so far")))
    run = await seam.start()
    registration.close()
    registration.close()
    with pytest.raises(UnknownProviderError):
        await seam.start()
    async with run:
        run.cancel()
        assert (await run.result()).text == "so far"


@pytest.mark.guarantee("B-SEAM-06")
def test_a_listener_that_objects_undoes_the_registration() -> None:
    """Whoever registers hears the objection; the provider is gone, and its going is told."""
    service, removed = SubagentService(), list[object]()

    def object_to(event: ProviderAdded) -> None:
        assert service.get("scripted") == event.provider
        raise PermissionError("not on this host")

    with service.hooks.on(ProviderAdded, object_to):
        service.hooks.on(ProviderRemoved, removed.append)
        with pytest.raises(PermissionError, match="not on this host"):
            service.register(ScriptedProvider())
    assert (service.list(), len(removed)) == ((), 1)
    service.register(ScriptedProvider())


@pytest.mark.guarantee("B-SEAM-07")
def test_a_listener_cannot_keep_a_provider_from_going(caplog: pytest.LogCaptureFixture) -> None:
    """A listener of a removal that raises is logged; the removal and later listeners go on."""
    service, heard = SubagentService(), list[str]()

    def raise_first(_: ProviderRemoved) -> None:
        raise ValueError("late objection")

    service.hooks.on(ProviderRemoved, raise_first)
    service.hooks.on(ProviderRemoved, lambda event: heard.append(event.provider.name))
    service.register(ScriptedProvider()).close()
    assert (service.list(), heard) == ((), ["scripted"])
    assert "late objection" in caplog.text


@pytest.mark.guarantee("B-SEAM-26", "B-SEAM-29")
async def test_what_a_provider_says_of_itself_is_read_once(seam: Any) -> None:
    """Name, capabilities and history are those of the registration; history is no authority."""
    provider = ScriptedProvider(capabilities=NOTHING, inherits_parent_context=True)
    registration = seam.service.register(provider)
    provider.name, provider.capabilities = "renamed", EVERYTHING
    provider.inherits_parent_context = False
    descriptor = seam.service.get("scripted")
    assert (descriptor.capabilities, descriptor.inherits_parent_context) == (NOTHING, True)
    with pytest.raises(UnsupportedCapabilityError):
        await seam.start(persona="x")
    async with await seam.start() as run:
        assert run.provider == "scripted"
    registration.close()
    assert seam.service.list() == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": ""}, "a provider's name"),
        ({"name": 3}, "a provider's name"),
        ({"capabilities": {"persona": True}}, "no SubagentCapabilities"),
        ({"inherits_parent_context": None}, "inherits_parent_context is no bool"),
        ({"serve": None}, "no serve"),
    ],
)
def test_what_is_no_provider_is_refused(change: dict[str, Any], problem: str) -> None:
    provider = ScriptedProvider()
    for name, value in change.items():
        setattr(provider, name, value)
    service = SubagentService()
    with pytest.raises(TypeError, match=problem):
        service.register(provider)
    assert service.list() == ()


@pytest.mark.parametrize(
    ("nonsense", "problem"),
    [
        (3, "a provider's name is a non-empty str, not None"),
        (ScriptedProvider, "ScriptedProvider is a class; register a provider made of it"),
    ],
)
def test_the_class_of_a_provider_is_none(nonsense: Any, problem: str) -> None:
    with pytest.raises(TypeError, match=problem):
        SubagentService().register(nonsense)


# the gate


@pytest.mark.guarantee("B-SEAM-08")
async def test_an_unknown_name_is_refused_with_the_known_ones(seam: Any) -> None:
    """A start under a name that nobody has is refused, naming it and what there is."""
    with pytest.raises(UnknownProviderError, match="'scripted'; registered: none"):
        await seam.start()
    seam.script()
    with pytest.raises(UnknownProviderError, match="'spawm'; registered: scripted") as caught:
        await seam.service.start("spawm", seam.request())
    assert caught.value.code == "NO_PROVIDER"


@pytest.mark.guarantee("B-SEAM-09", "B-SEAM-11")
async def test_capabilities_are_demanded_in_a_fixed_order(seam: Any) -> None:
    """The first field that the provider does not honour is named, and the backend never called."""
    given = dict(FIELDS)
    capabilities = NOTHING
    provider = ScriptedProvider(capabilities=capabilities)
    for capability, field in zip(EVERYTHING.names, tuple(given), strict=True):
        provider = ScriptedProvider(capabilities=capabilities)
        with (
            seam.service.register(provider),
            pytest.raises(UnsupportedCapabilityError, match="'scripted'") as caught,
        ):
            await seam.start(**given)
        assert (caught.value.code, caught.value.capability, caught.value.field) == (
            "UNSUPPORTED_CAPABILITY",
            capability,
            field,
        )
        assert provider.requests == []
        capabilities = replace(capabilities, **{capability: True})
    assert seam.parent.adopted == set()


@pytest.mark.guarantee("B-SEAM-10")
async def test_absent_fields_demand_nothing_and_present_ones_are_not_ignored(seam: Any) -> None:
    """A provider without any capability serves a plain request, and refuses an empty filter."""
    seam.script(capabilities=NOTHING)
    assert (await seam.service.run("scripted", seam.request())).completed
    with pytest.raises(UnsupportedCapabilityError, match="tool_filter"):
        await seam.start(tool_filter=ToolFilter())


@pytest.mark.guarantee("B-SEAM-12")
@pytest.mark.parametrize(
    "depth", [True, False, "3", 1.0, -0.0, 1.5, float("nan"), float("inf"), -1, 2**53]
)
async def test_a_depth_that_is_no_small_integer_is_refused(seam: Any, depth: Any) -> None:
    """Only an integer from 0 to 2**53-1 is a depth."""
    provider = seam.script()
    with pytest.raises(TypeError, match="max_depth"):
        await seam.start(max_depth=depth)
    assert provider.requests == []


@pytest.mark.parametrize("depth", [None, 0, 2**53 - 1])
async def test_a_depth_reaches_the_backend(seam: Any, depth: int | None) -> None:
    provider = seam.script()
    async with await seam.start(max_depth=depth):
        assert provider.requests[0].max_depth == depth


@pytest.mark.guarantee("B-SEAM-13")
async def test_a_schema_outside_the_subset_never_reaches_a_backend(seam: Any) -> None:
    """Every backend is spared the schemas that could not be enforced."""
    provider = seam.script()
    with pytest.raises(OutputSchemaError) as caught:
        await seam.start(output_schema={"type": "object", "if": {}})
    assert caught.value.code == "UNSUPPORTED_SCHEMA"
    assert provider.requests == []


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"prompt": 3}, "prompt is 3"),
        ({"prompt": ("text",)}, "a block of the prompt is str; it takes a content block"),
        ({"prompt": None}, "prompt is NoneType"),
        ({"label": 3}, "label is 3"),
        ({"parent_call_id": b"1"}, "parent_call_id is bytes"),
        ({"persona": 1}, "persona is 1"),
        ({"agent_options": {}}, "agent_options is dict"),
        ({"tool_filter": {"deny": ["bash"]}}, "tool_filter is dict"),
        ({"tool_filter": ToolFilter(deny="bash")}, "tool_filter.deny is str"),  # type: ignore[arg-type]
        ({"tool_filter": ToolFilter(allow=(1,))}, "a name in tool_filter.allow is 1"),  # type: ignore[arg-type]
        ({"parent": None}, "parent is NoneType; it takes a DelegatingParent"),
        ({"parent": "me"}, "parent is str; it takes a DelegatingParent"),
        ({"cancel_scope": None}, "cancel_scope is NoneType; it takes a trio.CancelScope"),
        ({"cancel_scope": 30}, "cancel_scope is 30; it takes a trio.CancelScope"),
    ],
)
async def test_a_value_of_the_wrong_type_is_refused_by_its_field(
    seam: Any, fields: dict[str, Any], problem: str
) -> None:
    provider = seam.script()
    with pytest.raises(TypeError, match=problem):
        await seam.start(**fields)
    assert provider.requests == []


async def test_what_is_no_request_is_refused(seam: Any) -> None:
    provider = seam.script()
    for nonsense in (None, "go", {"prompt": "go"}):
        with pytest.raises(TypeError, match="it takes a SubagentStartRequest"):
            await seam.service.start("scripted", nonsense)
    assert provider.requests == []


@pytest.mark.parametrize("prompt", ["", (), [], [TextBlock(text="")]])
async def test_an_empty_prompt_is_refused(seam: Any, prompt: Any) -> None:
    seam.script()
    with pytest.raises(ValueError, match="prompt is empty"):
        await seam.start(prompt=prompt)


@pytest.mark.guarantee("B-SEAM-30")
def test_every_refusal_of_the_seam_is_a_coded_error_of_the_family() -> None:
    """One base catches what the seam raises, and each class has a code of its own."""
    pending, classes = [SubagentError], list[type[SubagentError]]()
    while pending:
        classes += (below := pending.pop().__subclasses__())
        pending += below
    codes = [each.code for each in classes if each.__module__.startswith("dsh.subagent._")]
    assert len(set(codes)) == len(codes) >= 11
    assert issubclass(SubagentError, HarnessError)


# the scope


@pytest.mark.guarantee("B-SEAM-32")
async def test_every_request_has_a_scope_of_its_own(seam: Any) -> None:
    """Cancelling a request's scope is how a start and its run are cancelled."""
    seam.script(hang())
    one, other = seam.request(), seam.request()
    assert one.cancel_scope is not other.cancel_scope
    async with await seam.service.start("scripted", one) as run:
        one.cancel_scope.cancel("by the scope")
        assert (await run.result()).detail == "by the scope"


async def test_a_scope_serves_one_start(seam: Any) -> None:
    provider = seam.script()
    request = seam.request()
    assert (await seam.service.run("scripted", request)).completed
    with pytest.raises(CancelScopeError, match=r"was entered before.*relative_deadline=30"):
        await seam.service.start("scripted", replace(request, prompt="again"))
    assert len(provider.requests) == 1


async def test_a_shielded_scope_is_refused(seam: Any) -> None:
    provider = seam.script()
    with pytest.raises(CancelScopeError, match="is shielded"):
        await seam.start(cancel_scope=trio.CancelScope(shield=True))
    assert provider.requests == []


async def test_two_starts_at_once_cannot_share_a_scope(seam: Any) -> None:
    """The second passes the check of `start`; its supervisor looks again before it enters."""
    provider = seam.script(reply())
    request, refused = seam.request(), list[CancelScopeError]()

    async def start() -> None:
        try:
            await seam.service.run("scripted", request)
        except CancelScopeError as exc:
            refused.append(exc)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(start)
        nursery.start_soon(start)
    assert (len(refused), len(provider.requests)) == (1, 1)


async def test_a_closed_nursery_is_a_parent_that_has_ended(seam: Any) -> None:
    provider = seam.script()

    class Careless:
        """A parent that adopts whatever it is given."""

        id, cwd, depth = "careless", None, 0
        released = 0

        def dispatch(self, event: object) -> None:
            raise AssertionError

        def adopt(self, _: trio.CancelScope) -> Any:
            def undo() -> None:
                self.released += 1

            return undo

    parent: Any = Careless()
    async with trio.open_nursery() as parent.nursery:
        pass
    with pytest.raises(ParentDisposedError, match="'careless'"):
        await seam.service.start("scripted", SubagentStartRequest(prompt="go", parent=parent))
    assert (provider.requests, parent.released) == ([], 1)


async def test_a_cancelled_caller_never_reaches_the_backend(seam: Any) -> None:
    provider = seam.script()
    with trio.CancelScope() as scope:
        scope.cancel()
        await seam.start()
    assert scope.cancelled_caught
    assert provider.requests == []


# snapshots and structured values


@pytest.mark.guarantee("B-SEAM-22")
async def test_a_request_is_snapshotted(seam: Any) -> None:
    """What a caller changes after the start changes neither the child nor whose child it is."""
    provider = seam.script(hang())
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema |= {"required": ["a"], "additionalProperties": False}
    prompt: list[Any] = [TextBlock(text="look"), ImageBlock(media_type="image/png", data="aa==")]
    options: dict[str, Any] = {"thinking": {"type": "enabled", "stops": ["END"]}}
    deny = ["bash"]
    async with await seam.start(
        prompt=prompt,
        output_schema=schema,
        agent_options=AgentOptions(model="m", options=options),
        tool_filter=ToolFilter(deny=deny),  # type: ignore[arg-type]
    ) as run:
        prompt.clear()
        schema["properties"]["a"]["type"] = "integer"
        options["thinking"]["stops"].append("STOP")
        deny.append("read")
        seam.parent.id = "somebody else"
    (request,) = provider.requests
    assert request.text == "look"
    assert len(request.prompt) == 2
    assert request.output_schema["properties"]["a"] == {"type": "string"}
    assert request.agent_options.options == {"thinking": {"type": "enabled", "stops": ("END",)}}
    assert request.tool_filter == ToolFilter(deny=("bash",))
    assert run.parent_id == request.parent_id == "parent"
    assert {event.parent_id for event in seam.parent.events} == {"parent"}


class Summary(BaseModel):
    title: str
    pages: int


@dataclass
class Point:
    x: int


async def test_a_result_of_a_requested_type_has_its_value() -> None:
    service = SubagentService()
    service.register(ScriptedProvider(reply(structured={"title": "Docs", "pages": 3})))
    async with ScriptedParent() as parent:
        result = await service.run(
            "scripted", SubagentStartRequest(prompt="go", parent=parent, output_schema=Summary)
        )
    assert result.value is not None
    assert (result.value.title, result.value.pages) == ("Docs", 3)
    assert result.structured == {"title": "Docs", "pages": 3}


async def test_a_type_that_is_no_object_is_wrapped_on_the_wire(seam: Any) -> None:
    provider = seam.script(reply(structured={"value": [1, 2]}))
    result = await seam.service.run("scripted", seam.request(output_schema=list[int]))
    assert result.value == [1, 2]
    assert provider.requests[0].output_schema["required"] == ["value"]


async def test_the_value_of_a_plain_schema_is_the_json(seam: Any) -> None:
    seam.script(reply(structured={}))
    result = await seam.service.run("scripted", seam.request(output_schema=FIELDS["output_schema"]))
    assert (result.value, result.structured) == ({}, {})


@pytest.mark.parametrize("structured", [None, {}, {"x": "three"}])
async def test_a_completed_end_without_its_value_is_no_success(seam: Any, structured: Any) -> None:
    seam.script(reply("done", structured=structured))
    result = await seam.service.run("scripted", seam.request(output_schema=Point))
    assert (result.stop_reason, result.value, result.text) == ("error", None, "done")
    assert "value" in result.detail


def test_a_backend_can_ask_before_it_captures() -> None:
    async def main() -> Any:
        provider, service = ScriptedProvider(), SubagentService()
        service.register(provider)
        async with ScriptedParent() as parent:
            request = SubagentStartRequest(prompt="go", parent=parent, output_schema=Point)
            await service.run("scripted", request)
        return provider.requests[0]

    request = trio.run(main)
    assert request.parse({"x": 3}) == Point(3)
    with pytest.raises(StructuredValueError) as caught:
        request.parse({"x": "three"})
    assert "x" in caught.value.violations[0]


async def test_run_starts_waits_and_closes(seam: Any) -> None:
    provider = seam.script(reply("whole"))
    result: SubagentResult[Any] = await seam.service.run("scripted", seam.request())
    assert (result.text, provider.running) == ("whole", set())
    assert not seam.parent.nursery.child_tasks


async def test_run_raises_what_start_raises(seam: Any) -> None:
    seam.script(refuse(OSError("no")))
    with pytest.raises(SubagentStartError):
        await seam.service.run("scripted", seam.request())
    scope = trio.CancelScope()
    scope.cancel()
    with pytest.raises(SubagentStartCancelledError):
        await seam.service.run("scripted", seam.request(cancel_scope=scope))


async def test_a_type_whose_own_code_raises_is_a_value_that_does_not_fit(seam: Any) -> None:
    @dataclass
    class Picky:
        word: str

        def __post_init__(self) -> None:
            raise LookupError("not in my dictionary")

    async with await seam.start(reply(structured={"word": "x"}), output_schema=Picky) as run:
        result = await run.result()
    assert result.stop_reason == "error"
    assert "LookupError: not in my dictionary" in result.detail


def test_an_error_that_cannot_be_worded_is_named() -> None:
    class Mute(Exception):  # noqa: N818 - it says nothing
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert described(Mute()) == "Mute (its message cannot be rendered)"


def test_a_scripted_parent_that_is_not_open_has_no_nursery_and_may_be_disposed() -> None:
    parent = ScriptedParent(id="p")
    with pytest.raises(RuntimeError, match="<ScriptedParent 'p': not open> is not open"):
        _ = parent.nursery
    parent.dispose()
    assert repr(parent) == "<ScriptedParent 'p': disposed>"
