"""How Anthropic's API is reached and how it is spoken to."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from dsh.agent.wire import checked_url

__all__ = ["AnthropicConfig"]


class AnthropicConfig(BaseModel):
    """One endpoint that speaks Anthropic's wire. The key is never shown, logged or recorded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: Annotated[str, AfterValidator(checked_url)] = Field(
        default="https://api.anthropic.com",
        description="Where the endpoint is.",
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description="What the API calls the model; by default, the name it is asked for by.",
    )
    api_key: SecretStr | None = Field(
        default=None, description="The key; without one, the variable `api_key_env` is read."
    )
    api_key_env: str = Field(
        default="ANTHROPIC_API_KEY", description="The environment variable that holds the key."
    )
    timeout: float = Field(
        default=120.0,
        gt=0,
        allow_inf_nan=False,
        description="Seconds without a byte after which a request is given up.",
    )
    max_retries: int = Field(
        default=5,
        ge=0,
        description="How often a request is repeated when it was refused before it began to "
        "answer: rate limits, overload, no connection. `Retry-After` is honoured up to "
        "two minutes; a refusal that asks for more stands.",
    )
    max_tokens: int = Field(
        default=8192,
        gt=0,
        description="The limit on an answer's tokens, which the API demands, where a request has "
        "no option `max_tokens`. A thinking budget comes on top.",
    )
    cache: Literal["off", "5m", "1h"] = Field(
        default="5m",
        description="How long the API caches the prompt, tools and conversation, read again by the "
        "next step; `off` marks nothing for its cache.",
    )
