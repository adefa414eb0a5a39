"""What the configurations of both in-process backends have in common."""

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["InProcessConfig"]


class InProcessConfig(BaseModel):
    """Base of a backend's part of a host's configuration, which adds a ``provider_name``."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    structured_nudge_retries: int = Field(
        default=1,
        ge=0,
        description="How often a child that ended without its structured answer is asked again.",
    )
