"""What the tests of chat models share: the endpoint, the adapter, and a look for leaks."""

import gc
from collections.abc import AsyncGenerator, Generator

import pytest
from dialects import DIALECTS, Dialect
from fake_endpoint import FakeEndpoint, fake_endpoint

from dsh.agent import ChatModel


@pytest.fixture(params=DIALECTS, ids=str)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture
async def endpoint(dialect: Dialect) -> AsyncGenerator[FakeEndpoint]:
    async with fake_endpoint(dialect.refuse) as found:
        yield found


@pytest.fixture
async def model(dialect: Dialect, endpoint: FakeEndpoint) -> AsyncGenerator[ChatModel]:
    async with dialect.model(endpoint.url) as found:
        yield found


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_garbage_collector() -> Generator[None]:
    yield
    gc.collect()  # an open socket or a half-read generator warns, and warnings are errors
