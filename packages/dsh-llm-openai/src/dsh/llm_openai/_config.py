"""How an endpoint is reached and how it is spoken to."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from dsh.agent.wire import checked_url

__all__ = ["OpenAIConfig"]


class OpenAIConfig(BaseModel):
    """One OpenAI-compatible endpoint. The key is never shown, logged or recorded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: Annotated[str, AfterValidator(checked_url)] = Field(
        default="https://api.deepseek.com",
        description="Where the endpoint is; DeepSeek by default.",
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        description="What the endpoint calls the model; by default, the name it is asked for by.",
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="The key; without one, the variable `api_key_env` is read. An endpoint that "
        "wants none takes any.",
    )
    api_key_env: str = Field(
        default="DEEPSEEK_API_KEY", description="The environment variable that holds the key."
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
        "answer: rate limits, server errors, no connection. `Retry-After` is honoured up to "
        "two minutes; a refusal that asks for more stands.",
    )
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens",
        description="What the endpoint calls the limit on an answer's tokens, the option "
        "`max_tokens`.",
    )
    send_reasoning: Literal["never", "current_turn"] = Field(
        default="current_turn",
        description="Whether a model's own reasoning goes back to it while it works on one prompt, "
        "as DeepSeek asks for; never beyond that prompt.",
    )
    stream: bool = Field(
        default=True,
        description="Whether answers are streamed. Off, an answer is heard when it is whole: for "
        "servers that stream tool calls wrongly.",
    )
    lower_schemas: bool = Field(
        default=True,
        description="Whether `$ref` is inlined and `const` sent as `enum` in the schemas of tools, "
        "which some endpoints need. Off, schemas are sent as they are.",
    )
