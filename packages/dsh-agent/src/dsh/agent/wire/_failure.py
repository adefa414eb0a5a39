"""What can go wrong with a provider, as ``ModelError``: its code and the provider's own words."""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol, cast, final

from dsh.agent._model import ChatResponse, ModelError, model_error_code

__all__ = ["VendorErrors", "body_error", "quoted_start", "unusable_environment"]

MAX_START: Final = 100
"""How many characters an error quotes of what is no answer."""

MAX_WORDS: Final = 500
"""How many characters of a provider's own words an error quotes."""

SHORTEST_KEY: Final = 8
"""Shorter keys are placeholders for endpoints that want none; hiding them would garble words."""

RETRY_COUNT: Final = "x-stainless-retry-count"
"""The header in which the vendors' SDKs say how often a request was repeated."""

CODES: Final[Mapping[str, str]] = {
    "authentication_error": "AUTH",
    "permission_error": "AUTH",
    "rate_limit_error": "RATE_LIMIT",
    "rate_limit_exceeded": "RATE_LIMIT",
    "insufficient_quota": "RATE_LIMIT",
    "invalid_request_error": "INVALID_REQUEST",
}
"""Error types that providers name in bodies; the others are their own failures."""


class _Request(Protocol):
    @property
    def headers(self) -> Mapping[str, str]: ...


class _StatusError(Protocol):
    """The error of a vendor's SDK for an answer with an error status."""

    status_code: int
    body: object | None
    message: str
    request: _Request


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class VendorErrors:
    """The exceptions of a vendor's SDK and of its HTTP client, by what they mean."""

    status: type[Exception]
    """An answer with an error status; has ``status_code``, ``body``, ``message``, ``request``."""
    timeout: tuple[type[Exception], ...]
    """No answer in time."""
    connection: type[Exception]
    """No connection, however often it was tried."""
    broken: type[Exception]
    """What the HTTP client raises when a connection breaks while an answer is read."""
    other: type[Exception]
    """The base of everything else the SDK raises."""
    key: str = field(repr=False)
    """The key, which no message may show."""

    @contextmanager
    def translated(self, partial: Callable[[], ChatResponse]) -> Generator[None]:
        """Raise ``ModelError`` in place of these, with *partial*, the answer up to then.

        The foreign error is its cause, unless its words contain the key.
        """
        try:
            yield
        except (self.broken, self.other) as exc:
            code, text = self._meaning(exc)
            error = ModelError(_quoted(text, self.key), code=code, response=partial())
            raise error from (None if _shows(self.key, str(exc)) else exc)

    def _meaning(self, exc: Exception) -> tuple[str, str]:
        if isinstance(exc, self.status):
            answer = cast(_StatusError, exc)
            words = _words(answer.body) or answer.message
            text = f"HTTP {answer.status_code}: {words}{_repeated(answer.request)}"
            return model_error_code(answer.status_code), text
        if isinstance(exc, self.timeout):
            return "TIMEOUT", "the endpoint did not answer in time"
        if isinstance(exc, self.connection):
            request = cast(_StatusError, exc).request
            return "TRANSPORT", f"no connection: {exc.__cause__ or exc}{_repeated(request)}"
        if isinstance(exc, self.broken):
            words = str(exc) or type(exc).__name__
            return "STREAM_CLOSED", f"the connection broke before the answer ended: {words}"
        return "UNKNOWN", str(exc)


def body_error(body: Mapping[str, object], *, key: str, response: ChatResponse) -> ModelError:
    """An error that came where an answer was due: in a body, or in the middle of a stream."""
    error = body.get("error")
    named = cast("Mapping[str, object]", error) if isinstance(error, Mapping) else body
    status, kind = named.get("code", body.get("code")), named.get("type")
    if isinstance(status, int):
        code = model_error_code(status)
    else:
        code = CODES.get(str(status)) or CODES.get(str(kind)) or "SERVER"
    words = _words(body) or json.dumps(body)
    return ModelError(_quoted(words, key), code=code, response=response)


def unusable_environment(exc: Exception) -> ModelError:
    """The error for an HTTP client that refuses to be made, which *exc* says why.

    Nothing but the environment of the process can have it do so: a proxy of a scheme that it does
    not speak, or certificates that cannot be read.
    """
    return ModelError(
        f"no connection can be made as the environment has it: {exc} (proxies are read from"
        " HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, certificates from SSL_CERT_FILE and"
        " SSL_CERT_DIR)",
        code="TRANSPORT",
    )


def quoted_start(text: str, key: str) -> str:
    """The beginning of *text*, which is no answer, as an error may quote it: without the key."""
    return repr(_without(key, text)[:MAX_START])


def _words(body: object) -> str:
    """What a provider says in its error body, wherever it says it."""
    while isinstance(body, Mapping):
        found = cast("Mapping[str, object]", body)
        body = found.get("error") or found.get("message") or found.get("detail") or ""
    return body if isinstance(body, str) else ""


def _repeated(request: _Request) -> str:
    count = int(request.headers.get(RETRY_COUNT, "0"))
    return f" (after {count} {'retry' if count == 1 else 'retries'})" if count else ""


def _shows(key: str, text: str) -> bool:
    return len(key) >= SHORTEST_KEY and key in text


def _without(key: str, text: str) -> str:
    return text.replace(key, "***") if _shows(key, text) else text


def _quoted(text: str, key: str) -> str:
    text = _without(key, text)
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}… ({len(text)} characters)"
