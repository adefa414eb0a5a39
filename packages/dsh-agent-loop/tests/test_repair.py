"""What a model may get wrong, put right the same way every time."""

import pytest

from dsh.agent import (
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    valid_text,
)
from dsh.agent_loop._repair import repaired, valid_block


@pytest.mark.parametrize("text", ["plain", "größer", "\U0001f600", ""])
def test_valid_text_is_the_same_object(text: str) -> None:
    assert valid_text(text) is text


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    assert valid_text("a\ud800b") == "a\ufffdb"
    assert valid_text("\ud83d\ude00") == "\U0001f600"


def test_a_block_without_a_fault_is_kept_as_it_is() -> None:
    for block in (TextBlock(text="a"), ImageBlock(media_type="image/png", data="")):
        assert valid_block(block) is block
    block = ThinkingBlock(text="\ud800", signature="s")
    assert valid_block(block) == ThinkingBlock(text="\ufffd", signature="s")


def test_missing_and_repeated_ids_are_made_unique() -> None:
    calls = [ToolCallBlock(id=each, name="n", arguments="") for each in ("", "a", "a", "a-2", "")]
    ids = [block.id for block in repaired(calls) if isinstance(block, ToolCallBlock)]
    assert ids == ["call-0", "a", "a-2", "a-2-2", "call-4"]
    assert repaired(calls) == repaired(calls)


def test_what_only_a_user_can_say_is_dropped() -> None:
    assert repaired([ToolResultBlock(call_id="a", content=())]) == ()
