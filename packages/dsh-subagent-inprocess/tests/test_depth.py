"""Depth: read, advanced, refused."""

import pytest

from dsh.subagent import SubagentDepthError
from dsh.subagent_inprocess import _depth

DEEPEST = 2**53 - 1


@pytest.mark.parametrize("value", [True, -1, 1.0, "1", None, DEEPEST + 1])
def test_what_is_no_depth_is_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match="must be an int from 0"):
        _depth.read_depth(value)


def test_a_child_lies_one_deeper() -> None:
    assert _depth.read_depth(0) == 0
    assert _depth.advanced(0, None) == 1
    assert _depth.advanced(2, 3) == 3
    assert _depth.advanced(DEEPEST - 1, None) == DEEPEST


def test_deeper_than_allowed_or_than_any_json_reader_counts_is_refused() -> None:
    with pytest.raises(SubagentDepthError, match="depth 4 exceeds max_depth=3"):
        _depth.advanced(3, 3)
    with pytest.raises(OverflowError):
        _depth.advanced(DEEPEST, 0)
