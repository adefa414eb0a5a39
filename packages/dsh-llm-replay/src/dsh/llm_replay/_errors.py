"""What this package refuses."""

from dsh.agent import ModelError

__all__ = ["RecordingError", "ReplayError"]


class RecordingError(ModelError):
    """A file is no recording, or cannot become one; ``code`` is ``BAD_RECORDING``."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="BAD_RECORDING")


class ReplayError(ModelError):
    """The requests that are made are not those of the recording.

    ``code`` is ``EXHAUSTED`` where the recording is over, ``DIFFERENT_REQUEST`` where it has
    another request in this place (the message then shows the first difference), ``LEFT_OVER`` where
    `ReplayModel.check` finds requests that were never made.
    """
