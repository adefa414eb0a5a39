"""A fake endpoint in a thread of its own, and the command that asks it."""

from collections.abc import Generator

import pytest
from command import Dsh, environment
from fake_endpoint import FakeEndpoint, endpoint_in_a_thread
from openai_wire import refuse


@pytest.fixture
def endpoint(plain_http: None) -> Generator[FakeEndpoint]:
    with endpoint_in_a_thread(refuse) as serving:
        yield serving


@pytest.fixture
def dsh(
    endpoint: FakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Dsh:
    return Dsh(environment(endpoint.url), monkeypatch, capsys)
