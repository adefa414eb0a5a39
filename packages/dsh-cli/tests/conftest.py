"""Logs as a run leaves them, and the command called in this process."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from dsh.agent import (
    AssistantMessage,
    CustomEvent,
    Message,
    SessionEvent,
    SessionHeader,
    SessionId,
    StepEnded,
    StepStarted,
    TextBlock,
    TurnEnded,
    TurnStarted,
    Usage,
    UserMessage,
    encode_event,
    encode_header,
)
from dsh.cli import main


class Logs:
    """Writes logs into a directory, and knows what stands in them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(
        self, id: str, events: Sequence[SessionEvent], *, parent: str | None = None
    ) -> Path:
        """Write a log of that id, and return the directory."""
        header = SessionHeader(
            id=SessionId(id),
            parent_session=None if parent is None else SessionId(parent),
            created_at=1_000 + len(os.listdir(self.directory)),
        )
        lines = [encode_header(header), *(encode_event(*each) for each in enumerate(events))]
        (self.directory / f"{id}.jsonl").write_bytes(b"".join(lines))
        return self.directory

    @staticmethod
    def started(child: str, label: str = "part", provider: str = "spawn") -> CustomEvent:
        data = {"child": child, "provider": provider, "label": label, "call": "c"}
        return CustomEvent(kind="dsh.cli/run-started", data=data, time=1_200)

    @staticmethod
    def ended(child: str, stop_reason: str = "completed", **more: object) -> CustomEvent:
        data = {"child": child, "stop_reason": stop_reason, "detail": None, "text": "3", **more}
        return CustomEvent(kind="dsh.cli/run-ended", data=data, time=2_200)

    @staticmethod
    def turn(
        prompt: str, answer: str, *within: SessionEvent, at: int = 1_000
    ) -> list[SessionEvent]:
        """A turn of one step: *within* happens in it."""
        asked = Message(role="user", content=(TextBlock(text=prompt),), source="user")
        said = Message(role="assistant", content=(TextBlock(text=answer),))
        return [
            TurnStarted(turn=1, time=at),
            UserMessage(message=asked, time=at),
            StepStarted(turn=1, step=1, time=at),
            AssistantMessage(
                message=said, finish_reason="stop", usage=Usage(input_tokens=5), time=at + 100
            ),
            *within,
            StepEnded(turn=1, step=1, time=at + 1_500),
            TurnEnded(turn=1, reason="completed", time=at + 1_500),
        ]


@pytest.fixture
def log(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


@pytest.fixture
def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., str]:
    """Call the command, see it refuse in one line, and return that line."""
    for name in os.environ:
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)

    def call(*arguments: str) -> str:
        try:
            status: object = main(arguments)
        except SystemExit as exc:
            status = exc.code
        out, err = capsys.readouterr()
        assert (status, out, err.count("\n")) == (2, "", 1)
        return err

    return call
