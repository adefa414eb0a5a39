"""For authors of model adapters: what every provider's wire has in common.

How a provider is reached: ``_endpoint``. What is sent: ``_conversation`` makes messages that the
strictest provider accepts (``_calls`` its tool calls), ``_schema`` lowers a schema for dialects
that lack a keyword. What comes back: ``_events`` decodes server-sent events, ``_stream`` reads an
answer made of them, ``_failure`` turns what went wrong into a ``ModelError``, and ``_retry_after``
says how long a refusal may have a request wait. Put answers together with
``dsh.agent.ResponseAssembler``. None of it knows a provider.
"""

from dsh.agent.wire._conversation import sendable_messages
from dsh.agent.wire._endpoint import checked_key, checked_url
from dsh.agent.wire._events import EventDecoder, ServerSentEvent
from dsh.agent.wire._failure import VendorErrors, body_error, quoted_start, unusable_environment
from dsh.agent.wire._retry_after import Refusable, bound_retry_after
from dsh.agent.wire._schema import lower_schema
from dsh.agent.wire._stream import HttpAnswer, read_answer, read_body

__all__ = [
    "EventDecoder",
    "HttpAnswer",
    "Refusable",
    "ServerSentEvent",
    "VendorErrors",
    "body_error",
    "bound_retry_after",
    "checked_key",
    "checked_url",
    "lower_schema",
    "quoted_start",
    "read_answer",
    "read_body",
    "sendable_messages",
    "unusable_environment",
]
