"""When a structured answer counts: parked by its call, captured by the call's final result. Pure.

A call that is valid parks its value under the identity of that execution, never under its call id,
which models reuse. Only the final result of the same execution captures it, so that log and answer
cannot disagree: what a listener blocked afterwards was never the answer.

Next: `_structured.py`, which hangs these rules on a child.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from dsh.agent import (
    TextBlock,
    ToolArgsError,
    ToolExecution,
    ToolFinished,
    ToolResult,
    thaw_json,
)
from dsh.subagent import ResolvedRequest
from dsh.tools_jsonschema import StructuredValueError

__all__ = ["STRUCTURED_OUTPUT_TOOL", "Capture", "Captured"]

STRUCTURED_OUTPUT_TOOL: Final = "structured_output"
"""The tool by which a child with an ``output_schema`` hands over its answer."""

_SHOWN: Final = 1_000
"""How many characters of a rejected call's arguments, and of why, a shortfall quotes."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Captured:
    """A value, and the execution that gave it."""

    execution: ToolExecution
    structured: object
    value: Any
    """The same as the type that was asked for."""


@final
class Capture:
    """The structured answer of one child, from the first call to the one that counts."""

    __slots__ = (
        "_last_result",
        "_last_text",
        "_parked",
        "_request",
        "captured",
        "nudges",
        "rejected",
    )

    # Invariant: self._parked is None or self.captured is None

    def __init__(self, request: ResolvedRequest) -> None:
        self._request = request
        self._parked: Captured | None = None
        self.captured: Captured | None = None
        """The answer, once there is one."""
        self.rejected = 0
        """How many calls were no answer."""
        self.nudges = 0
        """How often the answer was asked for again."""
        self._last_text = ""
        self._last_result: ToolResult | None = None

    @property
    def schema(self) -> Mapping[str, Any]:
        """What the answer must match."""
        assert self._request.output_schema is not None
        return self._request.output_schema

    def park(self, execution: ToolExecution) -> None:
        """Keep the value of a valid call until its final result is known.

        Raises:
          ToolArgsError: it is not what was asked for; every violation is named (B-SO-04).
        """
        structured = thaw_json(execution.arguments)
        try:
            value = self._request.parse(structured)
        except StructuredValueError as exc:
            raise ToolArgsError(STRUCTURED_OUTPUT_TOOL, tuple(exc.violations)) from exc
        self._parked = Captured(execution=execution, structured=structured, value=value)

    def note_result(self, finished: ToolFinished) -> None:
        """Capture what the execution had parked if it succeeded, else forget it (B-SO-26)."""
        execution, result = finished.execution, finished.result
        if execution.name != STRUCTURED_OUTPUT_TOOL or self.captured is not None:
            return
        parked = self._parked
        if parked is not None and parked.execution is execution:
            self._parked = None
            if not result.is_error:
                self.captured = parked
                return
        self.rejected += 1
        self._last_text, self._last_result = execution.text, result

    def refusal(self, execution: ToolExecution) -> str | None:
        """Return why no further call is made once there is an answer, or may be (B-SO-32)."""
        if self._parked is None and self.captured is None:
            return None
        return f"the structured output was recorded and ends the task; {execution.name} was not run"

    def is_final(self, _: object) -> bool:
        """Whether the turn is over."""
        return self.captured is not None

    def shortfall(self) -> str:
        """Return what became of the answer that is missing."""
        told = f"no valid call of {STRUCTURED_OUTPUT_TOOL}"
        if self.nudges:
            told += f", asked again {_times(self.nudges)}"
        if self._last_result is None:
            return told
        content = self._last_result.content
        why = "".join(block.text for block in content if isinstance(block, TextBlock))
        return (
            f"{told}, rejected {_times(self.rejected)}; the last time: {_cut(why)}\n"
            f"its arguments: {_cut(self._last_text)}"
        )

    def history(self) -> str | None:
        """Return how many calls came to nothing before the answer, if any did."""
        if not self.rejected:
            return None
        return f"{STRUCTURED_OUTPUT_TOOL} was rejected {_times(self.rejected)} before it was valid"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters)"
