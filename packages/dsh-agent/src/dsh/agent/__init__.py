"""The host contract: what an agent is made of, without the loop that runs it.

Read ``_messages`` and ``_model`` (what is said, and who answers), ``_events`` and ``_session``
(what is written down), ``_hooks`` (who takes part), ``_tool`` and ``_tools``, ``_prompt``, then
``_agent``, which ties them together. ``dsh.agent.testing`` has a model without a network.
"""

from dsh.agent._agent import Agent, AgentOptions, AgentRegistry, AgentSpec, Setup
from dsh.agent._check import SessionInvariantError, check_log
from dsh.agent._errors import AgentError, HarnessError
from dsh.agent._events import (
    AssistantMessage,
    ContextMessage,
    CustomEvent,
    PartialMessage,
    PromptBlocked,
    RequestHeader,
    SessionEvent,
    SteeringMessage,
    StepEnded,
    StepStarted,
    StopReason,
    ToolCalled,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    TurnTrigger,
    UserMessage,
)
from dsh.agent._hooks import Filter, Guard, Hooks, Next, Registration, Stop
from dsh.agent._ids import AgentId, SessionId
from dsh.agent._json import JsonValueError, freeze_json, thaw_json
from dsh.agent._lineage import SessionHeader, SessionHeaderError
from dsh.agent._messages import (
    ContentBlock,
    ImageBlock,
    Message,
    ResultBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
)
from dsh.agent._model import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Delta,
    FinishReason,
    ModelError,
    OnDelta,
    TextDelta,
    ThinkingDelta,
    ToolChoice,
    ToolSchema,
)
from dsh.agent._models import DuplicateModelError, ModelRegistry, UnknownModelError
from dsh.agent._prompt import PERSONA, Prompt, Section
from dsh.agent._session import (
    OpenTurnError,
    ReentrantAppendError,
    SeedError,
    Session,
    SessionPrefix,
)
from dsh.agent._sink import SessionSink, SessionStore
from dsh.agent._tool import Tool, ToolBody, ToolExecution, ToolFilter, ToolResult
from dsh.agent._tools import DuplicateToolError, ToolRegistry, UnknownToolError

__all__ = [
    "PERSONA",
    "Agent",
    "AgentError",
    "AgentId",
    "AgentOptions",
    "AgentRegistry",
    "AgentSpec",
    "AssistantMessage",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "ContentBlock",
    "ContextMessage",
    "CustomEvent",
    "Delta",
    "DuplicateModelError",
    "DuplicateToolError",
    "Filter",
    "FinishReason",
    "Guard",
    "HarnessError",
    "Hooks",
    "ImageBlock",
    "JsonValueError",
    "Message",
    "ModelError",
    "ModelRegistry",
    "Next",
    "OnDelta",
    "OpenTurnError",
    "PartialMessage",
    "Prompt",
    "PromptBlocked",
    "ReentrantAppendError",
    "Registration",
    "RequestHeader",
    "ResultBlock",
    "Role",
    "Section",
    "SeedError",
    "Session",
    "SessionEvent",
    "SessionHeader",
    "SessionHeaderError",
    "SessionId",
    "SessionInvariantError",
    "SessionPrefix",
    "SessionSink",
    "SessionStore",
    "Setup",
    "SteeringMessage",
    "StepEnded",
    "StepStarted",
    "Stop",
    "StopReason",
    "TextBlock",
    "TextDelta",
    "ThinkingBlock",
    "ThinkingDelta",
    "Tool",
    "ToolBody",
    "ToolCallBlock",
    "ToolCalled",
    "ToolChoice",
    "ToolExecution",
    "ToolFilter",
    "ToolRegistry",
    "ToolResult",
    "ToolResultBlock",
    "ToolResulted",
    "ToolSchema",
    "TurnEnded",
    "TurnStarted",
    "TurnTrigger",
    "UnknownModelError",
    "UnknownToolError",
    "Usage",
    "UserMessage",
    "check_log",
    "freeze_json",
    "thaw_json",
]
