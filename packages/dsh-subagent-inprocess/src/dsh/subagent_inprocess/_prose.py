"""What a structured child's model reads; the texts are the ``.md`` files beside this module."""

from dataclasses import replace
from importlib.resources import files
from typing import Final

from dsh.agent import ContentBlock, TextBlock

__all__ = ["DESCRIPTION", "INSTRUCTION", "NUDGE", "RECORDED", "demanding"]


def _read(name: str) -> str:
    text = files("dsh.subagent_inprocess").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return " ".join(text.split())


DESCRIPTION: Final = _read("description")
INSTRUCTION: Final = _read("instruction")
NUDGE: Final = _read("nudge")
TASK: Final = _read("task")
"""Precedes the task: small models call a tool that their task names, whatever the system says."""
RECORDED: Final = "The structured output was recorded."


def demanding(prompt: tuple[ContentBlock, ...]) -> tuple[ContentBlock, ...]:
    """Return *prompt* with `TASK` in the line before it.

    No blank line lies between them: with one, a small model calls a tool that is named after the
    question more often (measured in ``docs/reliability.md``).
    """
    match prompt:
        case (TextBlock() as first, *rest):
            return (replace(first, text=f"{TASK}\n{first.text}"), *rest)
        case _:
            return (TextBlock(text=TASK), *prompt)
