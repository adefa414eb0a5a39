"""A model that writes down what another answers."""

from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, final

from dsh.agent import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    Delta,
    ModelError,
    OnDelta,
    SessionId,
    TextDelta,
)
from dsh.llm_replay._errors import RecordingError
from dsh.llm_replay._recording import HEADER, Asked, Call, Failure, Piece, encode_call

__all__ = ["RecordingModel"]


@final
class RecordingModel:
    """Passes every request on to *model* and appends it to *path* once it has ended.

    Enter it (``async with``) to begin the file, which must not exist; the model itself stays its
    owner's. A request that failed or was cancelled is recorded as such. What is recorded is what a
    request and its answer carry; a key of the model is in neither.

    Raises:
      RecordingError: on entering, the file exists or cannot be made.
    """

    def __init__(self, model: ChatModel, path: Path) -> None:
        self._model = model
        self._path = path
        self._file: FileIO | None = None
        self._sessions: dict[SessionId | None, int] = {}
        self._number: dict[int, int] = {}
        """The number of each session's last request."""
        self._last: dict[int, Asked] = {}

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel.generate``.

        Raises:
          RecordingError: the recording is not open, or could not be written; it is closed then.
        """
        if self._file is None:
            raise RecordingError(f"{self._path}: the recording is not open")
        session = self._sessions.setdefault(request.session_id, len(self._sessions))
        number = self._number[session] = self._number.get(session, -1) + 1
        asked = Asked.of(request, self._last.get(session))
        self._last[session] = Asked.of(request, None)
        heard: list[Piece] = []
        answer: ChatResponse | None = None
        failure: Failure | None = None

        def hear(delta: Delta) -> None:
            text = isinstance(delta, TextDelta)
            heard.append(Piece(kind="text" if text else "thinking", text=delta.text))
            on_delta(delta)

        try:
            answer = await self._model.generate(request, on_delta=hear)
            return answer
        except ModelError as exc:
            failure = Failure(message=str(exc), code=exc.code, response=exc.response)
            raise
        except Exception as exc:  # a bug of the model; its words are no provider's, and stay out
            failure = Failure(message=f"the model raised {type(exc).__name__}", code="UNKNOWN")
            raise
        finally:
            self._write(
                Call(
                    session=session,
                    number=number,
                    asked=asked,
                    heard=tuple(heard),
                    answer=answer,
                    failure=failure,
                )
            )

    def _write(self, call: Call) -> None:
        if self._file is None:  # another request could not be written
            return
        rest = memoryview(encode_call(call))
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as exc:  # what follows would have nothing to follow
            self._close()
            raise RecordingError(f"{self._path}: {exc.strerror}") from exc

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()

    async def __aenter__(self) -> "RecordingModel":
        try:
            self._file = FileIO(self._path, "xb")
            self._file.write(HEADER)
        except (OSError, ValueError) as exc:  # ValueError: a null byte, which no path has
            raise RecordingError(f"{self._path}: {getattr(exc, 'strerror', exc)}") from exc
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._close()


if TYPE_CHECKING:
    _: type[ChatModel] = RecordingModel
