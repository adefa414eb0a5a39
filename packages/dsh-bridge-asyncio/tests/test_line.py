"""The queue into asyncio's loop, once that loop is closed or broken."""

import asyncio
from typing import Any

import pytest

from dsh.bridge_asyncio._line import Line


def test_a_loop_that_is_closed_has_nobody_to_tell() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    called: list[str] = []
    Line(loop).call_asyncio(called.append, "too late")
    assert called == []


def test_a_loop_that_refuses_a_call_for_another_reason_is_not_taken_for_closed() -> None:
    class Broken(asyncio.SelectorEventLoop):
        def call_soon_threadsafe(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("out of order")

    loop = Broken()
    try:
        with pytest.raises(RuntimeError, match="out of order"):
            Line(loop).call_asyncio(print)
    finally:
        loop.close()
