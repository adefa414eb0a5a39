"""How an agent calls its model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from dsh.agent._errors import AgentError
from dsh.agent._fields import require_mapping, require_text_or_none
from dsh.agent._json import NOTHING, freeze_json

__all__ = ["AgentOptions", "InvalidAgentOptionsError"]


class InvalidAgentOptionsError(AgentError):
    """An option has a value no agent could work with; no options were made."""

    code = "INVALID_OPTIONS"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How an agent calls its model; what is ``None`` is the host's default.

    Raises:
      InvalidAgentOptionsError: a limit is not positive.
      JsonValueError: the provider options are not JSON.
      TypeError: the model is no text, a limit no integer, or the provider options no mapping.
    """

    model: str | None = None
    """One of the names in the host's models."""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Sampling and provider options, sent with each request."""
    max_steps: int | None = None
    """How many model requests one turn may make."""
    max_parallel_tool_calls: int | None = None
    """How many calls of one response run at once; siblings never share this with a child."""

    def __post_init__(self) -> None:
        require_text_or_none(self, "model", self.model)
        require_mapping(self, "options", self.options)
        frozen = freeze_json(self.options, at="options") if self.options else NOTHING
        object.__setattr__(self, "options", frozen)
        _assert_limit("max_steps", self.max_steps)
        _assert_limit("max_parallel_tool_calls", self.max_parallel_tool_calls)


def _assert_limit(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be a positive integer or None, not {value!r:.80}")
    if value < 1:
        raise InvalidAgentOptionsError(f"{name} must be a positive integer or None, not {value}")
