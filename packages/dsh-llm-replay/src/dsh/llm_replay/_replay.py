"""A model that answers as it did when it was recorded."""

from pathlib import Path
from typing import TYPE_CHECKING, final

import trio

from dsh.agent import (
    ChatModel,
    ChatRequest,
    ChatResponse,
    ModelError,
    OnDelta,
    SessionId,
    TextDelta,
    ThinkingDelta,
)
from dsh.llm_replay._difference import difference
from dsh.llm_replay._errors import ReplayError
from dsh.llm_replay._recording import Asked, Call, read_calls

__all__ = ["ReplayModel"]


@final
class ReplayModel:
    """Answers each session of a host with the calls of one recorded session, in their order.

    A session is matched by its first request: with the first recorded session that nobody has
    taken and that begins alike, so that children that run side by side find their own. A child's
    script begins with its own first request, whatever it was seeded with (B-LLM-11). Deltas and
    failures are repeated; a request that was cancelled waits to be cancelled again.

    Raises:
      RecordingError: the file is missing or is no recording.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._recorded = read_calls(path)
        self._taken: dict[SessionId | None, int] = {}
        self._next = [0] * len(self._recorded)

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """See ``dsh.agent.ChatModel.generate``.

        Raises:
          ReplayError: the recording is over, or has another request here.
          ModelError: the recorded request failed.
        """
        await trio.lowlevel.checkpoint()
        call = self._call(request.session_id, Asked.of(request, None))
        for piece in call.heard:
            kind = TextDelta if piece.kind == "text" else ThinkingDelta
            on_delta(kind(text=piece.text))
        if call.failure is not None:
            failure = call.failure
            raise ModelError(failure.message, code=failure.code, response=failure.response)
        if call.answer is None:
            await trio.sleep_forever()
        return call.answer

    def _call(self, session_id: SessionId | None, asked: Asked) -> Call:
        if session_id not in self._taken:
            self._taken[session_id] = self._session(asked)
        session = self._taken[session_id]
        number, calls = self._next[session], self._recorded[session]
        if number == len(calls):
            raise ReplayError(
                f"{self._path}: session {session + 1} is over after request {number}, "
                "and this is one more",
                code="EXHAUSTED",
            )
        if (found := difference(calls[number].asked, asked)) is not None:
            raise self._different(session, number, found)
        self._next[session] += 1
        return calls[number]

    def _session(self, asked: Asked) -> int:
        """The recorded session that begins with *asked* and is not taken yet."""
        free = [n for n in range(len(self._recorded)) if n not in self._taken.values()]
        if not free:
            raise ReplayError(
                f"{self._path}: its sessions are {len(self._recorded)}, and this is one more",
                code="EXHAUSTED",
            )
        found = [difference(self._recorded[session][0].asked, asked) for session in free]
        if None in found:
            return free[found.index(None)]
        raise self._different(free[0], 0, found[0] or "")

    def _different(self, session: int, number: int, found: str) -> ReplayError:
        where = f"request {number + 1} of session {session + 1}"
        return ReplayError(
            f"{self._path}: {where} was another one: {found}", code="DIFFERENT_REQUEST"
        )

    def check(self) -> None:
        """Fail unless everything recorded was asked for again.

        Raises:
          ReplayError: requests are left over (``LEFT_OVER``).
        """
        left = [
            f"session {session + 1}: {len(calls) - self._next[session]} of {len(calls)}"
            for session, calls in enumerate(self._recorded)
            if self._next[session] < len(calls)
        ]
        if left:
            raise ReplayError(
                f"{self._path}: requests were never made ({'; '.join(left)})", code="LEFT_OVER"
            )

    async def __aenter__(self) -> "ReplayModel":
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass


if TYPE_CHECKING:
    _: type[ChatModel] = ReplayModel
