"""One request over the vendor's SDK, which takes most of a second to import and so comes late."""

from functools import partial
from importlib.metadata import version
from typing import final

from dsh.agent import ChatResponse, ModelError, OnDelta
from dsh.agent.wire import (
    VendorErrors,
    bound_retry_after,
    read_answer,
    read_body,
    unusable_environment,
)
from dsh.llm_openai._answer import Answer
from dsh.llm_openai._config import OpenAIConfig
from dsh.llm_openai._request import Json

__all__ = ["Client"]

CONNECT_SECONDS = 10.0


@final
class Client:
    """Connections to one endpoint.

    The SDK repeats requests and tells errors apart; the stream is read by ``dsh.agent.wire``, which
    leaves no generator behind when it is cancelled.
    """

    def __init__(self, config: OpenAIConfig, key: str) -> None:
        try:
            import httpx2
            import openai
        except ModuleNotFoundError as exc:
            raise ModelError(
                f"the OpenAI SDK is not whole ({exc}): install dsh-llm-openai again",
                code="SDK_MISSING",
            ) from exc
        self._errors = VendorErrors(
            status=openai.APIStatusError,
            timeout=(openai.APITimeoutError, httpx2.TimeoutException),
            connection=openai.APIConnectionError,
            broken=httpx2.HTTPError,
            other=openai.OpenAIError,
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
        self._sdk = openai.AsyncOpenAI(
            api_key=key,
            base_url=config.base_url,
            max_retries=config.max_retries,
            timeout=timeout,
            default_headers={"User-Agent": f"dsh-llm-openai/{version('dsh-llm-openai')}"},
            http_client=connections,
        )
        # The body is the wire's own JSON. As `extra_body` it reaches it untouched; the typed
        # parameters would be walked through again, and take none that the SDK does not know.
        self._create = partial(
            self._sdk.chat.completions.with_raw_response.create,
            model="",
            messages=[],
            stream=True,
        )

    async def generate(self, body: Json, on_delta: OnDelta) -> ChatResponse:
        """Send *body* and read the answer to its end; the stream is closed before this returns."""
        answer = Answer(on_delta, key=self._errors.key)
        with self._errors.translated(answer.partial):
            raw = await self._create(extra_body=body)
            answer.retries = raw.retries_taken
            if body["stream"]:
                await read_answer(
                    raw.http_response, answer.handle, partial=answer.partial, errors=self._errors
                )
            else:
                answer.take_whole(await read_body(raw.http_response, errors=self._errors))
        return answer.response()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._sdk.close()
