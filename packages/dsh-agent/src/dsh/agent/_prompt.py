"""What the system text is made of: named, ordered sections, and variables to fill in.

Next: ``_assembly.py``, which makes the text.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from dsh.agent._errors import AgentError
from dsh.agent._fields import require_number, require_text, require_text_or_function
from dsh.agent._hooks import Hooks
from dsh.agent._layer import DuplicateNameError, Layer
from dsh.agent._registration import Registration
from dsh.agent._template import is_variable_name

if TYPE_CHECKING:
    from dsh.agent._agent import Agent

__all__ = [
    "IDENTITY",
    "PERSONA",
    "DuplicateSectionError",
    "DuplicateVariableError",
    "InvalidSectionError",
    "Prompt",
    "PromptChanged",
    "Section",
    "Variable",
]

IDENTITY: Final = "harness:identity"
"""The section in which a host says what it is, at order -100; the library writes none."""

PERSONA: Final = "deployment:persona"
"""The section that says who the agent is, at order 0."""


class InvalidSectionError(AgentError):
    """A section or variable that cannot be placed or named."""

    code = "INVALID_SECTION"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A piece of system text, ``name``; an empty one shadows its host's without showing.

    ``text`` may hold ``{{variable}}`` placeholders; as a function of the agent it is asked anew for
    every request, and what it gives is taken as it is. A lower ``order`` comes first. One that is
    ``owner_final`` cannot be shadowed, and is in every assembly exactly as registered.

    Raises:
      InvalidSectionError: no name, or an order that is not a finite number.
      TypeError: a field is of another type.
    """

    name: str
    text: "str | Callable[[Agent], str]"
    order: float = 0
    owner_final: bool = False

    def __post_init__(self) -> None:
        require_text(self, "name", self.name)
        require_text_or_function(self, "text", self.text)
        require_number(self, "order", self.order)
        if not self.name:
            raise InvalidSectionError("a prompt section needs a name")
        if not math.isfinite(self.order):
            raise InvalidSectionError(
                f"the prompt section {self.name!r} needs a finite order, not {self.order!r}"
            )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """What stands for ``{{name}}``: ``value``; as a function of the agent it may give ``None``.

    ``name`` is that of the placeholder; one that is ``owner_final`` cannot be shadowed.

    Raises:
      InvalidSectionError: a name that no placeholder could have.
      TypeError: a field is of another type.
    """

    name: str
    value: "str | Callable[[Agent], str | None]"
    owner_final: bool = False

    def __post_init__(self) -> None:
        require_text(self, "name", self.name)
        require_text_or_function(self, "value", self.value)
        if not is_variable_name(self.name):
            raise InvalidSectionError(
                f"the prompt variable {self.name!r} needs a name of lower-case letters, digits "
                "and underscores that begins with a letter"
            )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptChanged:
    """The section or variable ``name`` was ``registered`` (raising undoes that) or is gone."""

    name: str
    registered: bool


class DuplicateSectionError(DuplicateNameError):
    """The layer already has a section of that name; nothing changed."""

    code = "DUPLICATE_SECTION"
    kind = "prompt section"


class DuplicateVariableError(DuplicateNameError):
    """The layer already has a variable of that name; nothing changed."""

    code = "DUPLICATE_VARIABLE"
    kind = "prompt variable"


@final
class Prompt:
    """The sections and variables of one layer; *host* is the layer below an agent's own."""

    __slots__ = ("_ordered", "_sections", "_variables")

    def __init__(self, host: "Prompt | None" = None, *, hooks: Hooks | None = None) -> None:
        hooks = hooks if hooks is not None else Hooks()
        self._sections: Layer[Section] = Layer(
            DuplicateSectionError,
            host=host._sections if host is not None else None,
            hooks=hooks,
            changed=PromptChanged,
        )
        self._variables: Layer[Variable] = Layer(
            DuplicateVariableError,
            host=host._variables if host is not None else None,
            hooks=hooks,
            changed=PromptChanged,
        )

    def register(self, part: Section | Variable) -> Registration:
        """Add a section or variable; an agent's own shadows its host's of the same name.

        Raises:
          DuplicateSectionError, DuplicateVariableError: this layer has one of that name.
          OwnerFinalError: the host's of that name may not be shadowed, or *part* may not be and an
            agent does already.
          InactiveScopeError: the agent or host has ended.
          TypeError: *part* is neither.
        """
        if isinstance(part, Section):
            return self._sections.register(part)
        if isinstance(part, Variable):  # pyright: ignore[reportUnnecessaryIsInstance]
            return self._variables.register(part)
        raise TypeError(f"a prompt takes a Section or a Variable, not a {type(part).__name__}")

    def own(self) -> Mapping[str, Section | Variable]:
        """The sections and variables of this layer itself, by name."""
        return {**self._variables.own, **self._sections.own}

    def sections(self) -> Mapping[str, Section]:
        """The sections in force, by name; not to be changed, and not to be kept."""
        return self._sections.merged()

    def variables(self) -> Mapping[str, Variable]:
        """The variables in force, by name; not to be changed, and not to be kept."""
        return self._variables.merged()

    def close(self) -> None:
        """End this layer: its sections and variables are gone for good."""
        self._sections.close()
        self._variables.close()
