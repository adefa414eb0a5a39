"""The check for leaks as a pytest fixture; it needs pytest, which the extra ``testing`` installs.

Take it in with ``pytest_plugins = ["dsh.agent.testing.plugin"]`` in the topmost ``conftest.py``.
"""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import TypeAlias

import pytest

from dsh.agent.testing._leaks import Probe, assert_no_leaks

__all__ = ["WatchProbe", "no_leaks"]

WatchProbe: TypeAlias = Callable[[Probe], None]
"""What the fixture gives: call it with a probe to have that watched as well, from then on."""


@pytest.fixture
def no_leaks() -> Generator[WatchProbe]:
    """Fail the test if it leaves a thread, a child process, or what a probe names.

    A test may call the fixture with a probe once it has a host; whatever the probe names after the
    test that it did not name at the call is left. Trio's tasks cannot outlive a test, so what they
    leave inside of one is for ``assert_no_leaks`` to see.

    Raises:
      LeakError: something is left.
    """
    with ExitStack() as stack:
        stack.enter_context(assert_no_leaks())

        def watch(probe: Probe) -> None:
            stack.enter_context(assert_no_leaks(probe))

        yield watch
