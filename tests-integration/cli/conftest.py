"""A fake endpoint in a thread of its own, and the command that asks it."""

from collections.abc import Generator
from queue import SimpleQueue
from threading import Thread

import pytest
import trio
from command import Dsh, environment
from fake_endpoint import FakeEndpoint, fake_endpoint
from openai_wire import refuse


@pytest.fixture
def endpoint() -> Generator[FakeEndpoint]:
    found: SimpleQueue[tuple[FakeEndpoint, trio.lowlevel.TrioToken, trio.Event]] = SimpleQueue()

    async def serve() -> None:
        async with fake_endpoint(refuse) as serving:
            over = trio.Event()
            found.put((serving, trio.lowlevel.current_trio_token(), over))
            await over.wait()

    thread = Thread(target=trio.run, args=(serve,))
    thread.start()
    serving, token, over = found.get()
    try:
        yield serving
    finally:
        token.run_sync_soon(over.set)
        thread.join()


@pytest.fixture
def dsh(
    endpoint: FakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Dsh:
    return Dsh(environment(endpoint.url), monkeypatch, capsys)
