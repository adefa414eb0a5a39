"""What is replayed."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["ReplayConfig"]


class ReplayConfig(BaseModel):
    """A recording to answer from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path = Field(description="The recording, a file that `RecordingModel` has written.")
