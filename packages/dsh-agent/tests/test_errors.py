"""What all errors of the family have in common."""

import copy
import pickle
from collections.abc import Callable

import pytest

from dsh.agent import (
    AgentDisposedError,
    AgentId,
    EmptyToolFilterError,
    HarnessError,
    JsonValueError,
    ModelError,
    ToolArgsError,
    ToolError,
    UnknownToolError,
    Usage,
)
from dsh.agent.testing import say

ERRORS = [
    AgentDisposedError(AgentId("a")),
    EmptyToolFilterError(),
    JsonValueError("value.rows", "is no JSON"),
    ModelError("busy", code="HTTP_529", response=say("half", usage=Usage(input_tokens=3))),
    ToolArgsError("add", ("x: missing",)),
    ToolError("no such file", code="NO_FILE"),
    UnknownToolError(["raed"], known=["read"]),
]


def pickled(error: HarnessError) -> HarnessError:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_an_error_survives_being_copied_and_pickled(
    error: HarnessError, copied: Callable[[HarnessError], HarnessError]
) -> None:
    error.add_note("noted")
    twin = copied(error)
    assert (type(twin), str(twin), twin.code) == (type(error), str(error), error.code)
    assert vars(twin) == vars(error)
