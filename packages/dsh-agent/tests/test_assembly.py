"""Assembling: listeners change the draft, owner-final things survive them."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh.agent import (
    ASSEMBLY,
    Assembly,
    Draft,
    HookValueError,
    PromptPart,
    Section,
    Tool,
    ToolExecution,
    ToolFilter,
    ToolResult,
    ToolSchema,
    assemble,
)


async def nothing(_: ToolExecution) -> ToolResult:
    return ToolResult(content=())


def a_tool(name: str, **options: Any) -> Tool:
    return Tool(
        name=name,
        description=name,
        parameters={"type": "object"},
        execute=nothing,
        **options,
    )


def change(layer: Any, edit: Callable[[Draft], Any]) -> None:
    async def listener(draft: Draft, agent: Any, next: Any) -> Any:
        return edit(await next(draft))

    layer.hooks.filter(ASSEMBLY, listener)


def names(assembly: Assembly) -> list[str]:
    return [tool.name for tool in assembly.tools or ()]


async def test_nothing_registered_is_no_system_text_and_no_tools(host: Any) -> None:
    assert await assemble(host.agent()) == Assembly(system=None, tools=None)
    change(host, lambda draft: draft)
    assert await assemble(host.agent()) == Assembly(system=None, tools=None)


async def test_listeners_add_change_and_take_out_what_a_model_sees(host: Any) -> None:
    agent = host.agent()
    for name in ("read", "write"):
        host.tools.register(a_tool(name, guidance=f"How to {name}."))
    host.prompt.register(Section(name="s", text="old"))

    def edit(draft: Draft) -> Draft:
        parts = (*draft.parts, PromptPart(name="added", text="added"))
        parts = tuple(replace(p, text="new") if p.name == "s" else p for p in parts)
        return Draft(parts=parts, tools=tuple(t for t in draft.tools if t.name != "write"))

    change(agent, edit)
    assembly = await assemble(agent)
    assert assembly.system == "new\n\nHow to read.\n\nadded"
    assert names(assembly) == ["read"]
    assert names(await assemble(host.agent("b"))) == ["read", "write"]


@pytest.mark.parametrize(
    "nonsense",
    [
        lambda draft: None,  # pyright: ignore[reportUnknownLambdaType]
        lambda draft: Draft(parts=["text"], tools=()),  # type: ignore[arg-type, list-item]  # pyright: ignore[reportArgumentType, reportUnknownLambdaType]
        lambda draft: Draft(parts=("text",), tools=()),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportUnknownLambdaType]
        lambda draft: Draft(parts=(), tools=None),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportUnknownLambdaType]
    ],
)
async def test_a_listener_that_gives_no_draft_fails_the_assembly(host: Any, nonsense: Any) -> None:
    change(host, nonsense)
    with pytest.raises(HookValueError, match="'assembly'"):
        await assemble(host.agent())


@pytest.mark.guarantee("B-SYS-10")
async def test_a_whole_replacement_keeps_what_is_owner_final(host: Any) -> None:
    """Replacing the whole draft, without asking anyone else, takes nothing owner-final away."""
    agent = host.agent()
    host.tools.register(a_tool("read"))
    agent.tools.register(
        a_tool("output", owner_final=True, guidance="Call output.", guidance_order=190)
    )
    host.prompt.register(Section(name="law", text="Obey.", owner_final=True))

    async def replaces(draft: Draft, _: Any, next: Any) -> Draft:
        other = ToolSchema(name="other", description="", parameters={"type": "object"})
        return Draft(parts=(PromptPart(name="mine", text="Mine."),), tools=(other,))

    host.hooks.filter(ASSEMBLY, replaces, prepend=True)
    assembly = await assemble(agent)
    assert assembly.system == "Mine.\n\nObey.\n\nCall output."
    assert names(assembly) == ["other", "output"]


async def test_an_owner_final_tool_that_is_hidden_cannot_be_injected(host: Any) -> None:
    agent = host.agent()
    host.tools.register(a_tool("final", owner_final=True, guidance="Use final."))
    agent.tools.restrict(ToolFilter(deny=("final",)))
    forged = ToolSchema(name="final", description="forged", parameters={"type": "object"})
    part = PromptPart(name="tool:final", text="forged")
    change(agent, lambda draft: Draft(parts=(*draft.parts, part), tools=(*draft.tools, forged)))
    assert await assemble(agent) == Assembly(system=None, tools=None)


@pytest.mark.guarantee("B-SYS-11")
async def test_an_assembly_is_one_frozen_value_and_the_same_again(host: Any) -> None:
    """What a loop logs as header is the finished assembly, equal as long as nothing changed."""
    agent = host.agent()
    host.tools.register(a_tool("read"))
    host.prompt.register(Section(name="s", text="text"))
    change(host, lambda draft: replace(draft, parts=(*draft.parts, PromptPart(name="x", text="x"))))
    first = await assemble(agent)
    assert first == await assemble(agent)
    assert first.system == "text\n\nx"
    with pytest.raises(AttributeError):
        first.system = ""  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


N = TypeVar("N", PromptPart, ToolSchema)


def _scrambled(
    items: tuple[N, ...], forge: Callable[[str], N], rng: random.Random
) -> tuple[N, ...]:
    """What a listener without manners makes of *items*."""
    kept = [item for item in items if rng.random() < 0.7]
    kept += rng.choices(items, k=rng.randint(0, 2)) if items else []
    kept += [forge(f"{rng.choice('abcd')}{rng.randint(0, 5)}") for _ in range(rng.randint(0, 3))]
    kept = [forge(item.name) if rng.random() < 0.2 else item for item in kept]
    rng.shuffle(kept)
    return tuple(kept)


def _forged_part(name: str) -> PromptPart:
    return PromptPart(name=name, text=f"{name}!")


def _forged_tool(name: str) -> ToolSchema:
    return ToolSchema(name=name, description="forged", parameters={"type": "object"})


def _anchors(all_names: list[str], final: set[str], present: set[str]) -> dict[str, str | None]:
    """For each owner-final name, the ordinary one that must come next of those present."""
    anchors: dict[str, str | None] = {}
    for index, name in enumerate(all_names):
        if name in final:
            rest = (n for n in all_names[index + 1 :] if n not in final and n in present)
            anchors[name] = next(rest, None)
    return anchors


def _check_restored(canonical: list[Any], result: list[Any], final: set[str]) -> None:
    got = [item.name for item in result]
    assert len(got) == len(set(got)), "nothing is there twice"
    wanted = {item.name: item for item in canonical if item.name in final}
    assert {item.name: item for item in result if item.name in final} == wanted, "as registered"
    anchors = _anchors([item.name for item in canonical], final, set(got))
    for name, anchor in anchors.items():
        following = [n for n in got[got.index(name) + 1 :] if n not in final]
        assert following[:1] == ([anchor] if anchor is not None else []), "before its neighbour"
    for anchor in set(anchors.values()):
        together = [name for name in anchors if anchors[name] == anchor]
        assert [name for name in got if name in together] == together, "in their own order"


@settings(max_examples=200, deadline=None)
@given(
    final=st.sets(st.integers(0, 5)),
    hidden=st.booleans(),
    listeners=st.integers(0, 4),
    seed=st.integers(0, 2**32),
)
@pytest.mark.guarantee("B-SYS-09")
async def test_owner_final_things_survive_any_listeners(
    make_host: Any, final: set[int], hidden: bool, listeners: int, seed: int
) -> None:
    """Whatever listeners do, owner-final things are there once, unchanged, in place, or absent."""
    host = make_host()
    agent = host.agent()
    for index in range(6):
        owned = index in final
        host.tools.register(a_tool(f"a{index}", owner_final=owned))
        host.prompt.register(
            Section(name=f"b{index}", text=f"b{index}", order=index, owner_final=owned)
        )
    host.tools.register(a_tool("c0", owner_final=True))
    if hidden:
        agent.tools.restrict(ToolFilter(deny=("c0",)))
    canonical = await assemble(agent)
    rng = random.Random(seed)
    for _ in range(listeners):
        change(
            rng.choice((host, agent)),
            lambda draft: Draft(
                parts=_scrambled(draft.parts, _forged_part, rng),
                tools=_scrambled(draft.tools, _forged_tool, rng),
            ),
        )
    result = await assemble(agent)
    tools = {f"a{index}" for index in final} | {"c0"}
    _check_restored(list(canonical.tools or ()), list(result.tools or ()), tools)
    assert ("c0" in names(result)) is not hidden
    final_parts = {f"b{index}" for index in final}
    _check_restored(_read(canonical.system), _read(result.system), final_parts)


def _read(system: str | None) -> list[PromptPart]:
    """The parts of a system text in which every part says its name, forged ones with a mark."""
    texts = system.split("\n\n") if system else []
    return [PromptPart(name=text.rstrip("!"), text=text) for text in texts]
