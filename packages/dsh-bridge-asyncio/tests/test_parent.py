"""The parent that a bridge brings with it, at its end."""

import pytest
import trio

from dsh.bridge_asyncio._parent import open_root
from dsh.subagent import ParentDisposedError


async def test_a_root_that_has_begun_to_end_takes_no_more_children() -> None:
    async with open_root(None) as root:
        child = trio.CancelScope()
        root.adopt(child)
    assert child.cancel_called
    with pytest.raises(ParentDisposedError):
        root.adopt(trio.CancelScope())
