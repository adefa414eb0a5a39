"""What is refused before a backend hears of it, and what is copied. Plain and synchronous.

Next: `_provider.py`, who gets what passed.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast, get_args

import trio

from dsh.agent import AgentId, AgentOptions, ContentBlock, TextBlock, ToolFilter, thaw_json
from dsh.subagent._errors import CancelScopeError, UnsupportedCapabilityError
from dsh.subagent._parent import DelegatingParent
from dsh.subagent._provider import ProviderDescriptor
from dsh.subagent._request import SubagentStartRequest
from dsh.subagent._resolved import ResolvedRequest
from dsh.tools_jsonschema import compile_output_schema, output_schema_from

__all__ = ["admit", "refuse_used_scope"]

_GATED: Final = {
    "output_schema": "output_schema",
    "depth_limit": "max_depth",
    "tool_filter": "tool_filter",
    "persona": "persona",
}
"""Which field each capability opens, in the order of the checks (B-SEAM-09)."""

_SILENT: Final = AgentOptions()

_BLOCKS: Final = get_args(ContentBlock)
_DEEPEST: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exact (B-SEAM-12)."""


def admit(provider: ProviderDescriptor, request: SubagentStartRequest[Any]) -> ResolvedRequest:
    """Return *request* as *provider* may see it: within its capabilities, and copied.

    Raises:
      UnsupportedCapabilityError: A field is given that the provider does not honour.
      OutputSchemaError: The schema is outside the subset, or the type has none inside it.
      TypeError: It is no request, or a field holds something else than it declares; so does a
        depth out of range.
      ValueError: The prompt is empty.
    """
    if not isinstance(cast("object", request), SubagentStartRequest):
        raise _wrong("request", request, "a SubagentStartRequest")
    for capability, field in _GATED.items():
        if getattr(request, field) is not None:
            _demand(provider, capability, field)
    max_depth = _depth(request.max_depth)
    schema, output_type = _schema(request.output_schema)
    return ResolvedRequest(
        provider=provider.name,
        prompt=_prompt(request.prompt),
        parent=request.parent,
        parent_id=_parent_id(request.parent),
        parent_call_id=_text("parent_call_id", request.parent_call_id),
        label=_text("label", request.label),
        agent_options=_options(request.agent_options),
        output_schema=schema,
        output_type=output_type,
        max_depth=max_depth,
        tool_filter=_filter(request.tool_filter),
        persona=_text("persona", request.persona),
    )


def refuse_used_scope(scope: trio.CancelScope) -> None:
    """Refuse a scope that cannot bound one start and nothing else.

    Raises:
      CancelScopeError: It was entered before, or is shielded.
      TypeError: It is no scope.
    """
    if not isinstance(cast("object", scope), trio.CancelScope):
        raise _wrong("cancel_scope", scope, "a trio.CancelScope")
    if scope.is_relative is None:
        raise CancelScopeError("was entered before")
    if scope.shield:
        raise CancelScopeError("is shielded, so that the parent could not end the child")


def _demand(provider: ProviderDescriptor, capability: str, field: str) -> None:
    if getattr(provider.capabilities, capability) is not True:
        raise UnsupportedCapabilityError(
            provider.name, capability, field=field, supported=provider.capabilities.names
        )


def _parent_id(parent: DelegatingParent) -> AgentId:
    if not callable(getattr(parent, "adopt", None)):
        raise _wrong("parent", parent, "a DelegatingParent: an agent, or a host's own")
    return parent.id


def _depth(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _DEEPEST:
        raise _wrong("max_depth", value, "an int from 0 to 2**53-1, or None for no limit")
    return int(value)


def _schema(wanted: Any) -> tuple[dict[str, Any] | None, Any]:
    """Return the schema asked for, and the type it was made from."""
    if wanted is None:
        return None, None
    if not isinstance(wanted, Mapping):
        return output_schema_from(wanted), wanted
    schema = cast("dict[str, Any]", wanted)
    compile_output_schema(schema)  # plain JSON from here on, so the copy runs no code
    return cast("dict[str, Any]", thaw_json(schema)), None


def _prompt(prompt: object) -> tuple[ContentBlock, ...]:
    if isinstance(prompt, str):
        blocks: tuple[object, ...] = (TextBlock(text=prompt),) if prompt else ()
    elif isinstance(prompt, list | tuple):
        blocks = tuple(cast("Iterable[object]", prompt))
    else:
        raise _wrong("prompt", prompt, "text, or a list or tuple of content blocks")
    for block in blocks:
        if not isinstance(block, _BLOCKS):
            raise _wrong("a block of the prompt", block, "a content block: TextBlock(text=...)")
    if all(isinstance(block, TextBlock) and not block.text for block in blocks):
        raise ValueError("prompt is empty; a child needs something to do")
    return cast("tuple[ContentBlock, ...]", blocks)


def _options(options: object) -> AgentOptions:
    if options is None:
        return _SILENT
    if not isinstance(options, AgentOptions):
        raise _wrong("agent_options", options, "an AgentOptions")
    return options  # frozen as deep as it goes


def _filter(filter: object) -> ToolFilter | None:
    if filter is None:
        return None
    if not isinstance(filter, ToolFilter):
        raise _wrong("tool_filter", filter, "a ToolFilter")
    return ToolFilter(
        allow=_names("tool_filter.allow", filter.allow),
        deny=_names("tool_filter.deny", filter.deny),
    )


def _names(field: str, names: object) -> tuple[str, ...] | None:
    if names is None:
        return None
    if not isinstance(names, list | tuple | set | frozenset):
        raise _wrong(field, names, "a tuple, list or set of tool names")
    copied = tuple(cast("Iterable[object]", names))
    for name in copied:
        if not isinstance(name, str):
            raise _wrong(f"a name in {field}", name, "a str")
    return cast("tuple[str, ...]", copied)


def _text(field: str, text: object) -> str | None:
    if text is not None and not isinstance(text, str):
        raise _wrong(field, text, "a str")
    return text


def _wrong(field: str, value: object, accepted: str) -> TypeError:
    shown = f"{value!r}" if isinstance(value, bool | int | float) else type(value).__name__
    return TypeError(f"{field} is {shown}; it takes {accepted}")
