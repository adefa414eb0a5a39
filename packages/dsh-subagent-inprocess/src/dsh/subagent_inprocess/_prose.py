"""What a structured child's model reads; the texts are the ``.md`` files beside this module."""

from pkgutil import get_data  # `importlib.resources` would import `zipfile`
from typing import Final

from dsh.agent import ContentBlock, TextBlock

__all__ = ["DESCRIPTION", "INSTRUCTION", "NUDGE", "RECORDED", "demanding"]


def _read(name: str) -> str:
    data = get_data("dsh.subagent_inprocess", f"{name}.md")
    assert data is not None, "a package's loader can read what lies beside its modules"
    return " ".join(data.decode().split())


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
            return (TextBlock(text=f"{TASK}\n{first.text}"), *rest)
        case _:
            return (TextBlock(text=TASK), *prompt)
