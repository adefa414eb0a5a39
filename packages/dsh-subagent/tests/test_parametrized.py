"""Values of the seam, made with their type parameter written out."""

from dataclasses import FrozenInstanceError
from typing import cast

import pytest

from dsh.subagent import DelegatingParent, SubagentResult, SubagentStartRequest


def test_a_request_and_a_result_may_name_their_type_where_they_are_made() -> None:
    parent = cast(DelegatingParent, object())
    request = SubagentStartRequest[int](prompt="How many?", parent=parent, output_schema=int)
    result = SubagentResult[int](stop_reason="completed", value=3)

    assert (request.output_schema, result.value) == (int, 3)
    with pytest.raises(FrozenInstanceError):
        result.value = 4  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
