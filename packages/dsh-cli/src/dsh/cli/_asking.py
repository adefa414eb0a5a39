"""What an agent is asked, and how its answer is to come."""

from dataclasses import dataclass
from typing import final

from dsh.agent import ToolChoice
from dsh.cli._schema import OutputSchema

__all__ = ["Asking", "Saying"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What a user says once a conversation has begun."""

    text: str
    tool_choice: ToolChoice = "auto"
    """For the first request of the turn that it opens."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One question of the user's, or several, one after the other."""

    prompt: str
    then: tuple[Saying, ...] = ()
    """What is said next, each when the turn before has begun, so that it opens the next one."""
    output_schema: OutputSchema | None = None
    timeout: float | None = None
    json: bool = False
    """Whether the answer is printed as one JSON object."""
    children: bool = False
    """Whether what each child returned is printed too."""
