"""How a child calls its model where its request is silent, and where it is not."""

from dsh.agent import AgentOptions
from dsh.subagent_inprocess import _options

PARENT = AgentOptions(model="a", options={"effort": "high", "t": 0.3}, max_steps=7)
SILENT = AgentOptions()


def test_silent_is_as_the_parent() -> None:
    assert _options.child_options(PARENT, SILENT) is PARENT


def test_an_own_option_is_added_to_the_parents() -> None:
    made = _options.child_options(PARENT, AgentOptions(options={"t": 1}, max_steps=2))
    assert made == AgentOptions(model="a", options={"effort": "high", "t": 1}, max_steps=2)


def test_options_of_the_parents_model_are_not_sent_to_another() -> None:
    made = _options.child_options(PARENT, AgentOptions(model="b"))
    assert made == AgentOptions(model="b", max_steps=7)
    same = _options.child_options(PARENT, AgentOptions(model="a"))
    assert same == PARENT


def test_without_a_parent_only_own_ones_count() -> None:
    own = AgentOptions(model="b")
    assert _options.child_options(None, own) is own
