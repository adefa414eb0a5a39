"""``@tool``: from a typed function to a tool."""

import threading
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

import pytest
import trio
from pydantic import BaseModel, Field

from dsh.agent import (
    ImageBlock,
    InvalidToolError,
    TextBlock,
    Tool,
    ToolCallBlock,
    ToolError,
    ToolExecution,
    ToolRegistry,
    ToolResult,
    tool,
)


async def execute(made: Tool, arguments: str = "{}") -> ToolResult:
    registry = ToolRegistry()
    registry.register(made)
    return await registry.execute(ToolCallBlock(id="1", name=made.name, arguments=arguments))


async def answer(made: Tool, arguments: str = "{}") -> str:
    (block,) = (await execute(made, arguments)).content
    assert isinstance(block, TextBlock)
    return block.text


class Point(BaseModel):
    x: int
    y: int = 0


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


def test_a_functions_signature_is_the_schema_and_its_docstring_the_description() -> None:
    @tool
    async def plot(
        at: Point,
        mode: Literal["a", "b"],
        copy: Annotated[bool, Field(description="keep the old one")] = True,
        title: str | None = None,
    ) -> str:
        """Plot a point.

        It stays.
        """
        return ""

    assert (plot.name, plot.description) == ("plot", "Plot a point.\n\nIt stays.")
    parameters: Any = plot.parameters
    assert parameters["required"] == ("at", "mode")
    assert parameters["properties"]["copy"] == {
        "default": True, "description": "keep the old one", "type": "boolean",
    }  # fmt: skip
    assert parameters["properties"]["mode"] == {"enum": ("a", "b"), "type": "string"}
    assert set(parameters["properties"]) == {"at", "mode", "copy", "title"}
    assert "title" not in parameters


def test_options_are_the_tools_own() -> None:
    @tool(name="sum", description="adds", concurrent=True, timeout=5, guidance="Use it.")
    def add(a: int, b: int) -> int:
        return a + b

    assert (add.name, add.description, add.concurrent, add.timeout) == ("sum", "adds", True, 5)
    assert (add.guidance, add.guidance_order) == ("Use it.", 100)


async def test_typed_arguments_reach_an_async_function_in_the_calling_task() -> None:
    @tool
    async def where(at: Point, mode: Mode = Mode.SLOW) -> str:
        """Say where."""
        return f"{at!r} {mode.name} {threading.current_thread() is threading.main_thread()}"

    assert await answer(where, '{"at": {"x": 1}}') == "Point(x=1, y=0) SLOW True"
    assert await answer(where, '{"at": {"x": 1}, "mode": "fast"}') == "Point(x=1, y=0) FAST True"


async def test_any_other_function_runs_in_a_thread() -> None:
    @tool
    def where() -> str:
        """Say where."""
        return threading.current_thread().name

    assert await answer(where) == "tool where 1"


async def test_a_parameter_for_the_execution_gets_it_and_is_not_shown() -> None:
    @tool
    async def who(execution: ToolExecution, x: int) -> str:
        """Say who."""
        return f"{execution.call_id} {x}"

    assert set(who.parameters["properties"]) == {"x"}  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportUnknownArgumentType]
    assert await answer(who, '{"x": 3, "execution": "forged"}') == "1 3"


@pytest.mark.guarantee("B-TOOL-32")
async def test_arguments_that_do_not_fit_are_all_listed_and_the_function_does_not_run() -> None:
    """Violations are listed in one error result; unknown keys pass, defaults stay."""
    ran: list[dict[str, Any]] = []

    @tool
    async def move(at: Point, steps: Annotated[int, Field(gt=0)] = 5) -> str:
        """Move."""
        ran.append({"at": at, "steps": steps})
        return ""

    result = await execute(move, '{"at": {"x": "left"}, "steps": 0}')
    assert (result.is_error, result.code) == (True, "INVALID_ARGS")
    (block,) = result.content
    assert isinstance(block, TextBlock)
    assert block.text.splitlines() == [
        "the arguments of move are not valid:",
        '- at.x: Input should be a valid integer, unable to parse string as an integer, not "left"',
        "- steps: Input should be greater than 0, not 0",
    ]
    assert "at: Field required" in await answer(move)
    assert "arguments: Input should be an object" in await answer(move, "[1]")
    assert ran == []
    assert await answer(move, '{"at": {"x": 1}, "surplus": 1}') == ""
    assert ran == [{"at": Point(x=1), "steps": 5}]


async def test_a_long_list_of_violations_is_cut_and_says_so() -> None:
    @tool
    async def total(numbers: list[int]) -> int:
        """Add up."""
        return sum(numbers)

    text = await answer(total, f'{{"numbers": {["x" * 300] * 30}}}'.replace("'", '"'))
    assert text.endswith("- and 10 more")
    assert len(text) < 8_000


@pytest.mark.field_case("B038")
async def test_a_string_that_holds_json_stays_a_string() -> None:
    @tool
    async def write(content: str) -> str:
        """Write."""
        return content

    assert await answer(write, r'{"content": "{\"a\":1}"}') == '{"a":1}'


@pytest.mark.field_case("B050", "B072")
async def test_a_boolean_spelt_as_a_string_is_that_boolean_or_refused() -> None:
    @tool
    async def run(background: bool = True) -> str:
        """Run."""
        return repr(background)

    assert await answer(run, '{"background": "false"}') == "False"
    refused = await answer(run, '{"background": "maybe"}')
    assert "background: Input should be a valid boolean" in refused
    assert (await answer(run, '{"background": null}')).endswith("not null")
    assert run.parameters["properties"] == {"background": {"default": True, "type": "boolean"}}


PICTURE = ImageBlock(media_type="image/png", data="AAAA")

ANSWERS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "text": ("hi", (TextBlock(text="hi"),)),
    "a block": (PICTURE, (PICTURE,)),
    "blocks": ([PICTURE, TextBlock(text="a picture")], (PICTURE, TextBlock(text="a picture"))),
    "nothing": (None, (TextBlock(text="null"),)),
    "an empty list": ([], (TextBlock(text="[]"),)),
    "json": ({"a": [1, True, "ü"]}, (TextBlock(text='{"a": [1, true, "ü"]}'),)),
}


@pytest.mark.parametrize("which", ANSWERS)
async def test_what_a_function_returns_becomes_blocks(which: str) -> None:
    value, content = ANSWERS[which]

    @tool
    async def work() -> Any:
        """Work."""
        return value

    assert await execute(work) == ToolResult(content=content)


async def test_a_result_of_its_own_making_is_passed_on() -> None:
    @tool
    async def work() -> ToolResult:
        """Work."""
        return ToolResult(content=(), context="by the way")

    assert await execute(work) == ToolResult(content=(), context="by the way")


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, object(), {"a": {1}}])
async def test_an_answer_that_is_not_json_is_an_error_result(value: object) -> None:
    @tool
    async def work() -> object:
        """Work."""
        return value

    result = await execute(work)
    assert (result.is_error, result.code) == (True, "INVALID_RESULT")


@pytest.mark.parametrize("where", ["task", "thread"])
async def test_a_failure_meant_for_the_model_is_read_word_for_word(where: str) -> None:
    def fail() -> None:
        """Fail."""
        raise ToolError("there is no such file; try list_files", code="MISSING")

    async def fail_in_task() -> None:
        """Fail."""
        fail()

    result = await execute(tool(name="fail")(fail if where == "thread" else fail_in_task))
    assert result == ToolResult(
        content=(TextBlock(text="there is no such file; try list_files"),),
        is_error=True,
        code="MISSING",
    )


def without_annotation(a) -> None:  # type: ignore[no-untyped-def]  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    """Do."""


def positional(a: int, /) -> None:
    """Do."""


def variable(*a: int) -> None:
    """Do."""


def foreign(a: threading.Thread) -> None:
    """Do."""


def unresolved(a: "Nowhere") -> None:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable, reportUnknownParameterType]
    """Do."""


def misspelt(a: "list[") -> None:  # type: ignore[syntax]  # noqa: F722  # pyright: ignore
    """Do."""


def misnamed(a: "threading.Thred") -> None:  # type: ignore[name-defined]  # pyright: ignore
    """Do."""


def unsubscribable(a: "int[3]") -> None:  # type: ignore[type-arg]  # pyright: ignore
    """Do."""


def undocumented(a: int) -> None:
    pass


def yielding() -> Any:
    """Do."""
    yield 1


async def yielding_later() -> Any:
    """Do."""
    yield 1


REFUSED: list[Any] = [
    yielding, yielding_later,
    without_annotation, positional, variable, foreign, unresolved, undocumented,
    misspelt, misnamed, unsubscribable,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED)
def test_a_function_that_makes_no_tool_is_refused_by_name(function: Any) -> None:
    with pytest.raises(InvalidToolError, match=f"the tool '{function.__name__}' (needs|has)"):
        tool(function)


def test_what_a_function_returns_need_not_be_known_where_it_is_made_a_tool() -> None:
    @tool  # pyright: ignore[reportUnknownArgumentType]
    def listed(a: int) -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore
        """List."""

    properties: Any = listed.parameters["properties"]
    assert properties == {"a": {"type": "integer"}}


@pytest.mark.parametrize("grace", [-1, float("nan")])
def test_a_thread_is_not_waited_for_less_than_no_time(grace: float) -> None:
    with pytest.raises(InvalidToolError, match="a thread grace of 0 seconds or more"):
        tool(thread_grace=grace, description="Adds.")(undocumented)


def test_only_functions_are_made_tools() -> None:
    wrong: Any = partial(undocumented, 1)
    with pytest.raises(TypeError, match="takes a function, not a partial"):
        tool(wrong)


async def test_a_plain_function_that_returns_a_coroutine_fails_and_leaves_none_behind() -> None:
    async def later() -> str:
        return "later"

    @tool
    def work() -> Any:
        """Work."""
        return later()

    result = await execute(work)
    assert result.is_error
    await trio.lowlevel.checkpoint()


async def test_a_list_of_anything_but_blocks_is_data() -> None:
    @tool
    async def primes() -> list[int]:
        """The first primes."""
        await trio.lowlevel.checkpoint()
        return [2, 3]

    assert await answer(primes) == "[2, 3]"
