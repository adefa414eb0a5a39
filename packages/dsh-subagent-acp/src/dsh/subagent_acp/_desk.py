"""Where an agent's questions for permission are answered, one after the other or all at once."""

import logging
from collections.abc import Callable
from typing import Final, final

import trio

from dsh.subagent_acp._connection import Connection, RequestId
from dsh.subagent_acp._permission import (
    Approver,
    Permission,
    PermissionOption,
    PermissionProgress,
    PermissionRequest,
    allowing,
    rejecting,
)
from dsh.subagent_acp._protocol import permission_reply

__all__ = ["PermissionDesk"]

logger: Final = logging.getLogger("dsh.subagent_acp")

_OPEN: Final = 100
"""How many questions may wait for an approver at once; what is beyond is rejected."""

_LONGEST_NAME: Final = 200
"""How many characters of an agent's title a log repeats."""


@final
class PermissionDesk:
    """Answers the questions of one agent by one policy; an approver is asked in *nursery*.

    What a log says of a question has gone through *repeat* before.
    """

    def __init__(
        self,
        policy: Permission,
        connection: Connection,
        *,
        nursery: trio.Nursery,
        tell: Callable[[PermissionProgress], None],
        repeat: Callable[[str], str],
    ) -> None:
        self.denied = 0
        """How many questions were not answered with a permission."""
        self._policy = policy
        self._connection = connection
        self._nursery = nursery
        self._tell = tell
        self._repeat = repeat
        self._waiting: dict[int, tuple[RequestId, PermissionRequest]] = {}
        self._asked = 0
        self._closed = False

    def take(self, id: RequestId, request: PermissionRequest) -> None:
        """Answer *request* now, or have the approver asked."""
        policy = self._policy
        if self._closed:
            self._answer(id, request, None)
        elif policy == "allow":
            self._answer(id, request, allowing(request.options))
        elif isinstance(policy, str) or len(self._waiting) >= _OPEN:
            self._answer(id, request, rejecting(request.options))
        else:
            self._asked += 1
            self._waiting[self._asked] = id, request
            self._nursery.start_soon(self._ask, policy, self._asked)

    def close(self) -> None:
        """Answer what is open as cancelled, and whatever is still asked (B153)."""
        self._closed = True
        for waiting in self._waiting.values():
            self._answer(*waiting, None)
        self._waiting.clear()

    async def _ask(self, approver: Approver, number: int) -> None:
        if number not in self._waiting:  # answered by `close` before this task had begun
            return
        _, request = self._waiting[number]
        try:
            choice = await approver(request)
        except Exception:  # an approver is foreign code
            logger.exception("the approver raised; %s is rejected", self._named(request))
            choice = None
        if (waiting := self._waiting.pop(number, None)) is None:
            return
        if choice is not None and not any(choice is option for option in request.options):
            logger.error(
                "the approver chose none of the options; %s is rejected", self._named(request)
            )
            choice = None
        self._answer(*waiting, rejecting(request.options) if choice is None else choice)

    def _named(self, request: PermissionRequest) -> str:
        """What a log may call *request*: an agent's title can hold whatever it was given."""
        return f"{self._repeat(request.title)!r:.{_LONGEST_NAME}}"

    def _answer(
        self, id: RequestId, request: PermissionRequest, option: PermissionOption | None
    ) -> None:
        self._connection.answer(id, permission_reply(option))
        allowed = option is not None and option.allows
        self.denied += not allowed
        self._tell(
            PermissionProgress(
                call_id=request.call_id,
                title=request.title,
                allowed=allowed,
                option_id=None if option is None else option.option_id,
            )
        )
