"""One request over the vendor's SDK, which takes seconds to import and so comes late."""

from functools import partial
from importlib.metadata import version
from typing import Final, final

from dsh.agent import ChatResponse, ModelError, OnDelta
from dsh.agent.wire import VendorErrors, bound_retry_after, read_answer, unusable_environment
from dsh.llm_anthropic._answer import Answer
from dsh.llm_anthropic._config import AnthropicConfig
from dsh.llm_anthropic._request import Json

__all__ = ["Client"]

CONNECT_SECONDS: Final = 10.0


@final
class Client:
    """Connections to one endpoint.

    The SDK repeats requests and tells errors apart; the stream is read by ``dsh.agent.wire``, which
    leaves no generator behind when it is cancelled.
    """

    def __init__(self, config: AnthropicConfig, key: str) -> None:
        try:
            import anthropic
            import httpx2
        except ModuleNotFoundError as exc:
            raise ModelError(
                f"Anthropic's SDK is not whole ({exc}): install dsh-llm-anthropic again",
                code="SDK_MISSING",
            ) from exc
        self._errors = VendorErrors(
            status=anthropic.APIStatusError,
            timeout=(anthropic.APITimeoutError, httpx2.TimeoutException),
            connection=anthropic.APIConnectionError,
            broken=httpx2.HTTPError,
            other=anthropic.AnthropicError,
            key=key,
        )
        timeout = httpx2.Timeout(config.timeout, connect=min(config.timeout, CONNECT_SECONDS))
        try:
            # Of its own: no limit on connections but the host's, and a key follows no redirect.
            connections = httpx2.AsyncClient(
                timeout=timeout,
                limits=httpx2.Limits(max_connections=None),
                follow_redirects=False,
                event_hooks={"response": [bound_retry_after]},
            )
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as exc:
            raise unusable_environment(exc) from exc
        self._sdk = anthropic.AsyncAnthropic(
            api_key=key,
            base_url=config.base_url,
            max_retries=config.max_retries,
            timeout=timeout,
            default_headers={"User-Agent": f"dsh-llm-anthropic/{version('dsh-llm-anthropic')}"},
            http_client=connections,
        )
        # The body is the wire's own JSON. As `extra_body` it reaches it untouched; the typed
        # parameters would be walked through again, and take none that the SDK does not know.
        self._create = partial(
            self._sdk.messages.with_raw_response.create,
            model="",
            max_tokens=1,
            messages=[],
            stream=True,
        )

    async def generate(self, body: Json, on_delta: OnDelta) -> ChatResponse:
        """Send *body* and read the answer to its end; the stream is closed before this returns."""
        answer = Answer(on_delta, model=body["model"], key=self._errors.key)
        with self._errors.translated(answer.partial):
            raw = await self._create(extra_body=body)
            answer.retries = raw.retries_taken
            await read_answer(
                raw.http_response, answer.handle, partial=answer.partial, errors=self._errors
            )
        return answer.response()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._sdk.close()
