"""From a process that has just begun to a session that takes a prompt (B-ACP-04)."""

from importlib.metadata import version
from typing import Final, final

from dsh.subagent_acp._connection import Connection
from dsh.subagent_acp._demands import model_option, refuse_images
from dsh.subagent_acp._errors import AcpReplyError
from dsh.subagent_acp._protocol import (
    VERSION,
    Carriable,
    initialize,
    load,
    new_session,
    select_option,
)
from dsh.subagent_acp._reading import read_initialized, read_new_session

__all__ = ["Handshake"]

_NAME: Final = "dsh-subagent-acp"


@final
class Handshake:
    """The steps before the first prompt; ``step`` is the one under way, for whoever gives up."""

    def __init__(self, *, cwd: str, blocks: tuple[Carriable, ...], model: str | None) -> None:
        self.step = "start"
        self._cwd = cwd
        self._blocks = blocks
        self._model = model

    async def run(self, connection: Connection) -> str:
        """Return the id of a new session.

        Raises:
          AcpPromptError: this agent cannot be given what is to be prompted.
          AcpError: it gave no answer, or a wrong one.
        """
        await load()
        self.step = "initialize"
        hello = await connection.request("initialize", initialize(_NAME, version(_NAME)))
        agent = read_initialized(hello)
        if agent is None:
            raise AcpReplyError("initialize", "what is no answer to it")
        if agent.protocol_version != VERSION:
            raise AcpReplyError(
                "initialize",
                f"protocol version {agent.protocol_version}; this client speaks {VERSION}",
            )
        refuse_images(self._blocks, agent)
        self.step = "open a session (session/new)"
        session = read_new_session(await connection.request("session/new", new_session(self._cwd)))
        if session is None:
            raise AcpReplyError("session/new", "what is no answer to it")
        if self._model is not None:
            option = model_option(self._model, session)
            self.step = f"choose the model {self._model!r}"
            chosen = select_option(session.session_id, option, self._model)
            await connection.request("session/set_config_option", chosen)
        return session.session_id
