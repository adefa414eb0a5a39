"""One session with one agent: its turns, and what it wants of us meanwhile.

Next: `_run.py`, which makes a run of it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

from dsh.agent import Usage
from dsh.subagent import Progress, UsageProgress
from dsh.subagent_acp._connection import Connection, RequestId
from dsh.subagent_acp._desk import PermissionDesk
from dsh.subagent_acp._errors import AcpError, AcpOutputError
from dsh.subagent_acp._protocol import Carriable, cancel, prompt
from dsh.subagent_acp._reading import (
    read_permission_request,
    read_stop_reason,
    read_update,
    read_usage,
)
from dsh.subagent_acp._updates import TurnRecord

if TYPE_CHECKING:
    from dsh.subagent_acp._connection import Peer

__all__ = ["Session", "TurnEnd"]

_INVALID_PARAMS: Final = -32602


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """How one turn ended: by the agent's word, or by what kept it from having one."""

    reason: str | None
    """The agent's own word; ``None`` where it gave none."""
    failure: AcpError | None = None


@final
class Session:
    """A session of an agent that has told its id; hears what the agent says of it.

    Updates count for the turn that is under way. Between turns, and once cancelled, they are
    dropped.
    """

    def __init__(
        self,
        connection: Connection,
        session_id: str,
        *,
        max_output_bytes: int,
    ) -> None:
        self.desk: PermissionDesk | None = None
        """Answers its questions; without one they are refused."""
        self.tell: Callable[[Progress], object] = lambda _: None
        """Hears what happens in the turn under way."""
        self.record = TurnRecord(max_output_bytes=max_output_bytes)
        """The turn under way, or the last one."""
        self.usage: Usage | None = None
        self._connection = connection
        self._id = session_id
        self._max_output_bytes = max_output_bytes
        self._earlier_calls = 0
        self._listening = False
        self._prompting = False
        self._cancelled = False

    @property
    def tool_calls(self) -> int:
        """How many tool calls were told of, in all turns."""
        return self._earlier_calls + self.record.tool_calls

    async def prompt(self, blocks: Iterable[Carriable]) -> TurnEnd:
        """Run one turn. Never raises for what the agent does or fails to do."""
        self._earlier_calls += self.record.tool_calls
        self.record = TurnRecord(max_output_bytes=self._max_output_bytes)
        self._listening = self._prompting = True
        try:
            result = await self._connection.request("session/prompt", prompt(self._id, blocks))
        except AcpError as exc:
            self._prompting = False
            return TurnEnd(reason=None, failure=exc)
        finally:
            self._listening = False
        self._prompting = False
        if (usage := read_usage(result)) is not None:
            self.usage = usage
            self.tell(UsageProgress(usage=usage))
        return TurnEnd(reason=read_stop_reason(result))

    def cancel(self) -> None:
        """Stop listening, and have the agent stop: told once, if a turn is open (B-ACP-11)."""
        self._listening = False
        if self.desk is not None:
            self.desk.close()
        if self._prompting and not self._cancelled:
            self._cancelled = True
            self._connection.notify("session/cancel", cancel(self._id))

    def on_notification(self, method: str, params: object, /) -> None:
        """See `Peer`."""
        if method != "session/update" or not self._listening:
            return
        update = read_update(params)
        if update is None or update.session_id != self._id:
            return
        try:
            told = self.record.take(update)
        except AcpOutputError as exc:
            self._listening = False
            self._connection.fail(exc)
            return
        for each in told:
            self.tell(each)

    def on_request(self, id: RequestId, method: str, params: object, /) -> bool:
        """See `Peer`."""
        if method != "session/request_permission":
            return False
        asked = read_permission_request(params)
        if asked is None or asked[0] != self._id or self.desk is None:
            self._connection.refuse(id, _INVALID_PARAMS, f"{method}: no question of this session")
        else:
            self.desk.take(id, self.record.known(asked[1]))
        return True


if TYPE_CHECKING:
    _: type[Peer] = Session
