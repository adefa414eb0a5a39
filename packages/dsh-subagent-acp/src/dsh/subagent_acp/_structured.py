"""A structured answer from an agent that has no tool for it: asked for in the prompt, read as JSON.

The rule: the value is the whole reply where that is JSON, else the last fenced block that is. It is
held to the caller's schema like a value from any other backend; null is present, not absent.
"""

import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, final

from dsh.subagent import ResolvedRequest
from dsh.tools_jsonschema import StructuredValueError

__all__ = ["Capture", "instruction", "nudge"]

_OPENING: Final = re.compile(r"[ \t]*(`{3,})[^`]*")
_MOST_VIOLATIONS: Final = 20
"""How many are listed before the rest is only counted, as for the arguments of a tool."""
_NOTHING: Final = "the reply is not JSON, and has no fenced block of JSON"


def _prose(name: str) -> str:
    return files("dsh.subagent_acp").joinpath(f"{name}.md").read_text(encoding="utf-8").strip()


_INSTRUCTION: Final = _prose("instruction")
_NUDGE: Final = _prose("nudge")


def instruction(schema: Mapping[str, Any]) -> str:
    """Return what is asked of an agent beside its prompt."""
    return f"{_INSTRUCTION}\n\n```json\n{json.dumps(schema, indent=2)}\n```"


def nudge(violations: Sequence[str]) -> str:
    """Return what is asked of an agent whose answer did not fit."""
    return "\n".join((_NUDGE, "", *(f"- {violation}" for violation in violations)))


@final
class Capture:
    """The structured answer of one run, once there is one."""

    def __init__(self, request: ResolvedRequest) -> None:
        self._request = request
        self.structured: object = None
        self.value: Any = None
        self.violations: tuple[str, ...] = ()
        """What is wrong with the last reply; empty once there is an answer."""

    def read(self, text: str) -> bool:
        """Take the answer from a turn's *text*; whether there is one that fits."""
        found, candidate = _candidate(text)
        if not found:
            self.violations = (_NOTHING,)
            return False
        try:
            self.value = self._request.parse(candidate)
        except StructuredValueError as exc:
            self.violations = _listed(exc.violations)
            return False
        self.structured, self.violations = candidate, ()
        return True


def _listed(violations: Sequence[str]) -> tuple[str, ...]:
    more = len(violations) - _MOST_VIOLATIONS
    return (*violations[:_MOST_VIOLATIONS], *((f"and {more} more",) if more > 0 else ()))


def _candidate(text: str) -> tuple[bool, object]:
    for each in (text, *reversed(_fenced(text))):
        try:
            return True, json.loads(each)
        except (ValueError, RecursionError):
            continue
    return False, None


def _fenced(text: str) -> list[str]:
    """Return the fenced blocks of *text*, each line looked at once.

    A fence may end the last line of its block; one that nobody closed has the rest of the text.
    """
    blocks: list[str] = []
    fence, lines = "", list[str]()
    for line in text.split("\n"):
        if not fence:
            opening = _OPENING.fullmatch(line)
            fence = opening.group(1) if opening is not None else ""
            continue
        ended = line.rstrip(" \t\r")
        lines.append(ended.removesuffix(fence) if ended.endswith(fence) else line)
        if ended.endswith(fence):
            blocks.append("\n".join(lines))
            fence, lines = "", []
    if fence:
        blocks.append("\n".join(lines))
    return blocks
