"""Tool calls as the strictest provider accepts them."""

import json
import math
import re
from collections.abc import Container
from dataclasses import replace
from typing import Final, final

from dsh.agent._messages import ToolCallBlock

__all__ = ["CallNaming"]

FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")
MAX_ID: Final = 40
MAX_NAME: Final = 64


@final
class CallNaming:
    """Gives the calls of one conversation, in order, what providers ask of them.

    Ids are unique and, like names, made of letters, digits, ``_`` and ``-``; the same conversation
    always gets the same ids, so that a prefix of it stays one. Arguments are a JSON object.
    """

    def __init__(self, known: Container[str]) -> None:
        self._known = known
        self._taken: set[str] = set()

    def sendable(self, call: ToolCallBlock) -> ToolCallBlock:
        """*call* with an id of its own, a name and arguments that providers take.

        A name that is a tool's is kept whatever it is made of. Arguments that are no JSON object
        (a model's slip, already answered with an error) travel as text in one.
        """
        name = call.name if call.name in self._known else FOREIGN.sub("_", call.name)[:MAX_NAME]
        arguments = call.arguments
        if not _is_object(arguments):
            arguments = json.dumps({"INVALID_JSON": arguments}) if arguments.strip() else "{}"
        return replace(call, id=self._unique(call.id), name=name or "unnamed", arguments=arguments)

    def _unique(self, id: str) -> str:
        base = FOREIGN.sub("_", id)[:MAX_ID] or "call"
        number, unique = 1, base
        while unique in self._taken:
            number += 1
            unique = f"{base[: MAX_ID - 6]}-{number}"
        self._taken.add(unique)
        return unique


def _is_object(text: str) -> bool:
    try:
        value: object = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is out of range")
    return number
