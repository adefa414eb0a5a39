"""What a structured child's model reads; the texts are the ``.md`` files beside this module."""

from importlib.resources import files
from typing import Final

__all__ = ["DESCRIPTION", "INSTRUCTION", "NUDGE", "RECORDED", "TASK"]


def _read(name: str) -> str:
    text = files("dsh.subagent_inprocess").joinpath(f"{name}.md").read_text(encoding="utf-8")
    return " ".join(text.split())


DESCRIPTION: Final = _read("description")
INSTRUCTION: Final = _read("instruction")
NUDGE: Final = _read("nudge")
TASK: Final = _read("task") + "\n"
"""Precedes the task: small models call a tool that their task names, whatever the system says."""
RECORDED: Final = "The structured output was recorded."
