"""What a session log is made of: one frozen value per thing that happened.

An event's sequence number is its index in the log, so it is not stored in the event. Every event
stamps the time of its own making, in milliseconds since the epoch.

Next: ``_session.py``, the log itself.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, final, get_args

from dsh.agent._fields import (
    require,
    require_count,
    require_mapping,
    require_text,
    require_text_or_none,
)
from dsh.agent._json import NOTHING, freeze_json
from dsh.agent._messages import Message, ToolCallBlock, ToolResultBlock, Usage
from dsh.agent._model import FINISH_REASONS, FinishReason, ToolSchema

__all__ = [
    "EVENT_TYPES",
    "AssistantMessage",
    "ContextMessage",
    "CustomEvent",
    "PartialMessage",
    "PromptBlocked",
    "RequestHeader",
    "SessionEvent",
    "SteeringMessage",
    "StepEnded",
    "StepStarted",
    "StopReason",
    "ToolCalled",
    "ToolResulted",
    "TurnEnded",
    "TurnStarted",
    "TurnTrigger",
    "UserMessage",
]

StopReason: TypeAlias = str
"""An open vocabulary, spelt alike in log and result: ``completed``, ``aborted``, ``error``,
``max_tokens``, ``refusal``, ``timeout``, ``max_steps``, ``no_output``, ``lost``; in logs also
``disposed``, ``rejected`` and ``interrupted``. A reader treats one it does not know as failure."""

TurnTrigger: TypeAlias = Literal["message", "injection"]
"""What opened a turn: a message, or context that was injected while the agent was idle."""
_TRIGGERS: Final[frozenset[str]] = frozenset(get_args(TurnTrigger))


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    """What all events have: ``time``, when it was made, in milliseconds since the epoch.

    Each checks its own fields, so that every log can be read back.

    Raises:
      TypeError: a field holds something else than it says.
    """

    time: int = field(default_factory=_now)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(_Event):
    """Turn ``turn`` opens, for ``trigger``; turns are numbered from 1 without gaps."""

    turn: int
    trigger: TurnTrigger = "message"

    def __post_init__(self) -> None:
        require_count(self, "turn", self.turn)
        if self.trigger not in _TRIGGERS:
            raise TypeError(f"TurnStarted.trigger is {self.trigger!r}, no TurnTrigger")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(_Event):
    """Turn ``turn`` closes for ``reason``; ``detail`` and ``code`` tell what failed."""

    turn: int
    reason: StopReason
    detail: str | None = None
    code: str | None = None

    def __post_init__(self) -> None:
        require_count(self, "turn", self.turn)
        require_text(self, "reason", self.reason)
        require_text_or_none(self, "detail", self.detail)
        require_text_or_none(self, "code", self.code)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted(_Event):
    """Step ``step`` of ``turn`` opens: one model request and the tool calls it asks for."""

    turn: int
    step: int

    def __post_init__(self) -> None:
        require_count(self, "turn", self.turn)
        require_count(self, "step", self.step)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded(_Event):
    """Step ``step`` of ``turn`` closes."""

    turn: int
    step: int

    def __post_init__(self) -> None:
        require_count(self, "turn", self.turn)
        require_count(self, "step", self.step)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(_Event):
    """A prompt that was let through, as the ``message`` the model reads."""

    message: Message

    def __post_init__(self) -> None:
        require(self, "message", self.message, Message)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptBlocked(_Event):
    """A ``message`` that was not, for ``reason``; the model never sees it."""

    message: Message
    reason: str

    def __post_init__(self) -> None:
        require(self, "message", self.message, Message)
        require_text(self, "reason", self.reason)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMessage(_Event):
    """A ``message`` with something a plugin wants the model to know."""

    message: Message

    def __post_init__(self) -> None:
        require(self, "message", self.message, Message)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SteeringMessage(_Event):
    """A ``message`` delivered at a step boundary of the running turn."""

    message: Message

    def __post_init__(self) -> None:
        require(self, "message", self.message, Message)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RequestHeader(_Event):
    """What the next requests carry beside the messages; logged in full whenever it changes.

    In canonical form: an empty ``system`` text or an empty list of ``tools`` is absent (B-SES-14).
    ``model`` is the name asked for, ``options`` go to the provider as they are.

    Raises:
      JsonValueError: the options are not JSON.
    """

    model: str
    system: str | None = None
    tools: tuple[ToolSchema, ...] | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        require_text(self, "model", self.model)
        require_mapping(self, "options", self.options)
        if not self.system:
            object.__setattr__(self, "system", None)
        if not self.tools:
            object.__setattr__(self, "tools", None)
        frozen = freeze_json(self.options, at="options") if self.options else NOTHING
        object.__setattr__(self, "options", frozen)

    def asks_like(self, other: "RequestHeader | None") -> bool:
        """Whether requests made with *other* carry the same; if so it is not logged again."""
        return other is not None and (
            (self.model, self.system, self.tools, self.options)
            == (other.model, other.system, other.tools, other.options)
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage(_Event):
    """A model's answer, whole: the ``message``, its ``finish_reason`` and its ``usage``."""

    message: Message
    finish_reason: FinishReason
    usage: Usage

    def __post_init__(self) -> None:
        require(self, "message", self.message, Message)
        if self.finish_reason not in FINISH_REASONS:
            reason = self.finish_reason
            raise TypeError(f"AssistantMessage.finish_reason is {reason!r}, no FinishReason")
        require(self, "usage", self.usage, Usage)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PartialMessage(_Event):
    """The visible ``text`` of an answer that was cut off; no model sees it again."""

    text: str

    def __post_init__(self) -> None:
        require_text(self, "text", self.text)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(_Event):
    """A ``call`` of the open step is dispatched."""

    call: ToolCallBlock

    def __post_init__(self) -> None:
        require(self, "call", self.call, ToolCallBlock)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResulted(_Event):
    """The final ``result`` of a call of the open step; ``code`` is that of its failure."""

    result: ToolResultBlock
    code: str | None = None

    def __post_init__(self) -> None:
        require(self, "result", self.result, ToolResultBlock)
        require_text_or_none(self, "code", self.code)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CustomEvent(_Event):
    """A plugin's own event: ``kind`` is ``plugin/what``, ``data`` is JSON, frozen on the way in.

    Raises:
      JsonValueError: the data is not JSON.
    """

    kind: str
    data: object

    def __post_init__(self) -> None:
        require_text(self, "kind", self.kind)
        object.__setattr__(self, "data", freeze_json(self.data, at="data"))


SessionEvent: TypeAlias = (
    TurnStarted
    | TurnEnded
    | StepStarted
    | StepEnded
    | UserMessage
    | PromptBlocked
    | ContextMessage
    | SteeringMessage
    | RequestHeader
    | AssistantMessage
    | PartialMessage
    | ToolCalled
    | ToolResulted
    | CustomEvent
)
"""Any event of a log."""

EVENT_TYPES: Final[frozenset[type]] = frozenset(get_args(SessionEvent))
"""The classes of ``SessionEvent``."""
