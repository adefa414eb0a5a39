"""The seam to a language model: one request in, one response out, deltas on the side.

Next: ``_models.py``, where models are registered under the names agents ask for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias, final, get_args

from dsh.agent._chain import Chain
from dsh.agent._errors import AgentError
from dsh.agent._fields import require, require_mapping, require_text
from dsh.agent._ids import SessionId
from dsh.agent._json import NOTHING, freeze_json
from dsh.agent._messages import ContentBlock, Message, Usage

__all__ = [
    "FINISH_REASONS",
    "MODEL_ERROR_CODES",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Delta",
    "FinishReason",
    "ModelError",
    "OnDelta",
    "TextDelta",
    "ThinkingDelta",
    "ToolChoice",
    "ToolSchema",
    "model_error_code",
]

FinishReason: TypeAlias = Literal["stop", "tool_calls", "max_tokens", "refusal", "aborted", "error"]
"""Why a model stopped writing."""

FINISH_REASONS: Final[frozenset[str]] = frozenset(get_args(FinishReason))
"""The values of ``FinishReason``."""

ToolChoice: TypeAlias = Literal["auto", "required", "none"]
"""Whether an answer may, must or must not call a tool."""

_FROZEN: Final = (Chain, tuple)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """A tool as the model sees it: its ``name``, its ``description``, its parameters; no more.

    Raises:
      JsonValueError: the parameters are not JSON.
      TypeError: a field is of the wrong type.
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    """The JSON Schema of the arguments, verbatim and frozen."""

    def __post_init__(self) -> None:
        require_text(self, "name", self.name)
        require_text(self, "description", self.description)
        require_mapping(self, "parameters", self.parameters)
        object.__setattr__(self, "parameters", freeze_json(self.parameters, at="parameters"))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """Everything one call of a model is made from; frozen, so that the log can vouch for it.

    Raises:
      JsonValueError: the options are not JSON.
    """

    model: str
    """The name it was asked for by."""
    messages: Sequence[Message]
    """An immutable view of the conversation; later messages never appear in it."""
    system: str | None = None
    """``None`` where there is no system text: absent stays absent (B-LLM-09)."""
    tools: tuple[ToolSchema, ...] | None = None
    """``None`` where no tool is offered: absent is not the same as empty (B-LLM-09)."""
    tool_choice: ToolChoice = "auto"
    """Whether the answer may, must or must not call a tool."""
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    """Sampling and provider options, passed on untouched."""
    session_id: SessionId | None = None
    """Whose log this request can be checked against (B-LLM-08)."""

    def __post_init__(self) -> None:
        if not isinstance(self.messages, _FROZEN):
            object.__setattr__(self, "messages", tuple(self.messages))
        frozen = freeze_json(self.options, at="options") if self.options else NOTHING
        object.__setattr__(self, "options", frozen)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ChatResponse:
    """What came back: ``content``, why it ended there (``finish_reason``), and its ``usage``.

    ``detail`` and ``code`` explain ``error`` and ``aborted``.

    Raises:
      TypeError: the content is no tuple, the usage no ``Usage``, or the finish reason none of
        ``FinishReason``.
    """

    content: tuple[ContentBlock, ...]
    finish_reason: FinishReason = "stop"
    usage: Usage = Usage()
    detail: str | None = None
    code: str | None = None
    retries: int = 0
    """How often the request was repeated before it was answered; none of it is a failure."""

    def __post_init__(self) -> None:
        require(self, "content", self.content, tuple)
        require(self, "usage", self.usage, Usage)
        if self.finish_reason not in FINISH_REASONS:
            known = ", ".join(sorted(FINISH_REASONS))
            raise TypeError(f"ChatResponse.finish_reason is {self.finish_reason!r}; known: {known}")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """More visible ``text``."""

    text: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    """More reasoning, ``text``."""

    text: str


Delta: TypeAlias = TextDelta | ThinkingDelta
"""A piece of an answer that is being written."""

OnDelta: TypeAlias = Callable[[Delta], None]
"""Told of each piece, in order; a plain function."""


class ChatModel(Protocol):
    """A language model, or whatever plays one."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """Answer *request*.

        ``on_delta`` is a plain function, called in order while the answer is being written; it
        raises for nothing but what is no delta (``TypeError``). Cancelling the call ends the
        request and leaves nothing running: a stream is closed before this returns.

        A failure is raised, or returned as a response that finished with ``error`` or ``aborted``;
        the registry makes both the same (B-LLM-03).

        Raises:
          ModelError: the model could not answer; its ``code`` says why.
        """
        ...


class ModelError(AgentError):
    """A model failed; an adapter's ``code`` is one of ``MODEL_ERROR_CODES``, or ``HTTP_<status>``.

    ``response`` is what had been answered and paid for by then, where that is known.
    """

    code = "UNKNOWN"

    def __init__(
        self, message: str, *, code: str = "UNKNOWN", response: ChatResponse | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.response = response


MODEL_ERROR_CODES: Final = (
    "AUTH",
    "RATE_LIMIT",
    "INVALID_REQUEST",
    "SERVER",
    "EMPTY_RESPONSE",
    "STREAM_CLOSED",
    "TIMEOUT",
    "TRANSPORT",
    "SDK_MISSING",
    "MALFORMED_RESPONSE",
    "ABORTED",
    "UNKNOWN",
)
"""What a model adapter reports, beside ``HTTP_<status>``."""


def model_error_code(status: int) -> str:
    """The code for an HTTP status that is a failure (B-LLM-06)."""
    match status:
        case 401 | 403:
            return "AUTH"
        case 429:
            return "RATE_LIMIT"
        case 400:
            return "INVALID_REQUEST"
        case _:
            return "SERVER" if 500 <= status <= 599 else f"HTTP_{status}"
