"""What a request carries beside its messages: the system text and the tools, made anew each step.

Sections and tools are drafted, listeners may change the draft, what is owner-final is put back as
it was, and the rest is rendered.
"""

from dataclasses import dataclass
from operator import attrgetter
from typing import Final, cast, final

from dsh.agent._agent import Agent
from dsh.agent._hooks import Filter, Hooks, HookValueError
from dsh.agent._model import ToolSchema
from dsh.agent._prompt import Prompt, Section
from dsh.agent._restoration import restored
from dsh.agent._template import fill_in
from dsh.agent._tools import ToolRegistry, guidance_name

__all__ = ["ASSEMBLY", "Assembly", "Draft", "PromptPart", "assemble"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """``system`` text and ``tools`` of a request; ``None`` where there are none (B-LLM-09)."""

    system: str | None
    tools: tuple[ToolSchema, ...] | None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """The section ``name`` with its ``text`` made, at its place in a draft."""

    name: str
    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An assembly that listeners may change: ``parts`` and ``tools`` as models read them."""

    parts: tuple[PromptPart, ...]
    tools: tuple[ToolSchema, ...]


ASSEMBLY: Final[Filter[Draft, Agent]] = Filter("assembly", accepts=Draft)
"""The one way to change what a model sees.

Taking a tool out hides it from the model, and its guidance too; it does not forbid it:
``agent.tools.restrict`` does both.
"""


async def assemble(
    agent: Agent,
    *,
    hooks: Hooks | None = None,
    tools: ToolRegistry | None = None,
    prompt: Prompt | None = None,
) -> Assembly:
    """The system text and tools of the next request of *agent*.

    A loop that makes an agent's layers when they are first asked for passes its host's in the place
    of those that it has not made: an agent without layers of its own is then given none.

    Raises:
      PlaceholderError: a section names a variable without a value.
      UnknownToolError: the host's order of tools names one that is nowhere.
      HookValueError: a listener gave back something that is no draft.
      Exception: whatever a section's function or a listener raised.
    """
    hooks, tools, prompt = hooks or agent.hooks, tools or agent.tools, prompt or agent.prompt
    sections = _sections(tools, prompt)
    texts = [_text(section, agent, prompt) for section in sections]
    schemas = tools.schemas()
    if hooks.hears(ASSEMBLY):
        names = (section.name for section in sections)
        parts = (PromptPart(name=name, text=text) for name, text in zip(names, texts, strict=True))
        draft = Draft(parts=tuple(parts), tools=schemas or ())
        final = await _filtered(draft, agent, hooks=hooks, tools=tools, prompt=prompt)
        texts, schemas = [part.text for part in final.parts], final.tools or None
    return Assembly(system="\n\n".join(filter(None, texts)) or None, tools=schemas)


async def _filtered(
    drafted: Draft, agent: Agent, *, hooks: Hooks, tools: ToolRegistry, prompt: Prompt
) -> Draft:
    changed = await hooks.run_filter(ASSEMBLY, drafted, agent)
    _check(changed.parts, PromptPart)
    _check(changed.tools, ToolSchema)
    return _finalised(tools, prompt, drafted, changed)


def _sections(tools: ToolRegistry, prompt: Prompt) -> list[Section]:
    """The sections in force in their order: equal orders in order of registration."""
    by_name = {**tools.guidance(), **prompt.sections()}
    return sorted(by_name.values(), key=attrgetter("order"))


def _text(section: Section, agent: Agent, prompt: Prompt) -> str:
    text = section.text
    if callable(text):
        text = text(agent)
    elif "{{" in text:
        text = fill_in(text, lambda name: _value(name, agent, prompt), section=section.name)
    return text


def _value(name: str, agent: Agent, prompt: Prompt) -> str | None:
    variable = prompt.variables().get(name)
    if variable is None:
        return {"model": agent.options.model, "cwd": agent.cwd}.get(name)
    return variable.value(agent) if callable(variable.value) else variable.value


def _check(items: object, kind: type[object]) -> None:
    is_tuple = isinstance(items, tuple)
    for item in cast(tuple[object, ...], items) if is_tuple else (items,):
        if not (is_tuple and isinstance(item, kind)):
            raise HookValueError(ASSEMBLY.name, got=item, expected=f"a tuple of {kind.__name__}")


def _finalised(tools: ToolRegistry, prompt: Prompt, drafted: Draft, changed: Draft) -> Draft:
    final_tools = tools.final_names()
    shown = restored(drafted.tools, changed.tools, final=final_tools)
    offered = {tool.name for tool in shown}
    orphaned = {guidance_name(name) for name in tools.visible() if name not in offered}
    final_parts = {name for name, each in prompt.sections().items() if each.owner_final}
    final_parts |= {guidance_name(name) for name in final_tools}
    parts = restored(drafted.parts, changed.parts, final=final_parts)
    return Draft(parts=tuple(p for p in parts if p.name not in orphaned), tools=shown)
