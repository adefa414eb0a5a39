"""What every test starts from, whatever environment they are all run in."""

import os
from collections.abc import Generator

import pytest

from gates.plain import COLOURS

WARNED_BY = {"PYTHONASYNCIODEBUG", "PYTHONDEVMODE", "PYTHONWARNINGS"}

SHOWN_BY = COLOURS | WARNED_BY | {"COLUMNS", "LINES", "NO_COLOR", "PYTEST_ADDOPTS"}
"""Variables that change what programs print; a test that is about one of them sets it."""


@pytest.fixture(scope="session", autouse=True)
def plain_output() -> Generator[None]:
    """Have programs print to tests, and to what tests start, as to a pipe and in plain letters."""
    with pytest.MonkeyPatch.context() as patch:
        for name in SHOWN_BY & os.environ.keys():
            patch.delenv(name)
        yield
