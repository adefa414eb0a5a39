"""What the tests of chat models share: the endpoint, the adapter, and a look for leaks."""

import gc
import importlib
from collections.abc import AsyncGenerator, Generator

import pytest
from dialects import DIALECTS, Dialect
from fake_endpoint import FakeEndpoint, fake_endpoint

from dsh.agent import ChatModel

SDKS = ("openai", "anthropic")


@pytest.fixture(params=DIALECTS, ids=str)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    found: Dialect = request.param
    return found


@pytest.fixture
async def endpoint(dialect: Dialect, plain_http: None) -> AsyncGenerator[FakeEndpoint]:
    async with fake_endpoint(dialect.refuse) as found:
        yield found


@pytest.fixture
async def model(dialect: Dialect, endpoint: FakeEndpoint) -> AsyncGenerator[ChatModel]:
    async with dialect.model(endpoint.url) as found:
        yield found


@pytest.fixture(scope="session", autouse=True)
def _the_sdks_are_not_searched_for_garbage() -> Generator[None]:
    for sdk in SDKS:
        importlib.import_module(sdk)
    gc.collect()
    gc.freeze()  # a collection after each test then takes a moment instead of a fifth of a second
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _nothing_is_left_to_the_garbage_collector() -> Generator[None]:
    yield
    gc.collect()  # an open socket or a half-read generator warns, and warnings are errors
