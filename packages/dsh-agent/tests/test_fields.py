"""Values check what they are made of, where they are made."""

from collections.abc import Callable
from typing import Any

import pytest

from dsh.agent import (
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    InvalidAgentOptionsError,
    RequestHeader,
    Section,
    Tool,
    ToolExecution,
    ToolResult,
    Variable,
)


async def nothing(_: ToolExecution) -> ToolResult:
    return ToolResult(content=())


TOOL: dict[str, Any] = {
    "name": "read",
    "description": "Reads.",
    "parameters": {"type": "object"},
    "execute": nothing,
}

WRONG: list[tuple[Callable[..., object], dict[str, Any], str, object]] = [
    (Tool, TOOL, "name", None),
    (Tool, TOOL, "description", 5),
    (Tool, TOOL, "parameters", [("type", "object")]),
    (Tool, TOOL, "timeout", "5"),
    (Tool, TOOL, "guidance", 5),
    (Tool, TOOL, "guidance_order", True),
    (Section, {"name": "a", "text": "b"}, "name", None),
    (Section, {"name": "a", "text": "b"}, "text", 5),
    (Section, {"name": "a", "text": "b"}, "order", "1"),
    (Variable, {"name": "a", "value": "b"}, "name", 5),
    (Variable, {"name": "a", "value": "b"}, "value", 5),
    (ChatResponse, {"content": ()}, "usage", None),
    (AgentOptions, {}, "model", 5),
    (AgentOptions, {}, "options", []),
    (AgentSpec, {}, "options", {"model": "m"}),
    (AgentSpec, {}, "depth", True),
]


@pytest.mark.parametrize(
    ("make", "given", "field", "value"),
    WRONG,
    ids=lambda each: each if isinstance(each, str) else getattr(each, "__name__", ""),
)
def test_a_value_of_the_wrong_type_is_refused_by_its_field(
    make: Any, given: dict[str, Any], field: str, value: object
) -> None:
    with pytest.raises(TypeError, match=rf"{make.__name__}\.{field} is a .*, not a"):
        make(**given | {field: value})


def test_no_agent_lies_above_the_one_a_user_talks_to() -> None:
    with pytest.raises(InvalidAgentOptionsError, match="depth is -1"):
        AgentSpec(depth=-1)


@pytest.mark.parametrize("given", [{}, {"a": {"b": [1]}}])
def test_options_are_snapshotted_even_where_there_are_none(given: dict[str, Any]) -> None:
    before = {key: {**value} for key, value in given.items()}
    values = (
        AgentOptions(options=given),
        RequestHeader(model="m", options=given),
        ChatRequest(model="m", messages=(), options=given),
    )
    given["late"] = 1
    for value in values:
        assert value.options.keys() == before.keys()
        with pytest.raises(TypeError, match="does not support item assignment"):
            value.options["late"] = 1  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
