"""What a host configures of this backend."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dsh.subagent_acp._permission import Permission
from dsh.subagent_acp._process import Graces

__all__ = ["AcpConfig"]


class AcpConfig(BaseModel):
    """The backend's part of a host's configuration: which agent, how to start it, how to end it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, allow_inf_nan=False
    )

    provider_name: str = Field(
        default="acp", min_length=1, description="What the backend is registered under."
    )
    command: str = Field(min_length=1, description="The agent's program, looked up in its PATH.")
    args: tuple[str, ...] = Field(default=(), description="What the program is started with.")
    cwd: Path | None = Field(
        default=None,
        description="Where every agent works, absolute; else where its parent does.",
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="Variables the agent gets on top, credentials among them; never repeated.",
    )
    inherit_env: bool = Field(
        default=True,
        description=(
            "Whether the agent gets this process's environment, without what looks like a "
            "credential; else only PATH, HOME, LANG and TMPDIR."
        ),
    )
    config_dir: Path | Literal["isolated"] | None = Field(
        default=None,
        description=(
            "Where the agent has its configuration: a path; `isolated`, a fresh private directory "
            "for each run; or what it finds by itself."
        ),
    )
    config_dir_variables: tuple[str, ...] = Field(
        default=(), description="Which variables tell the agent of `config_dir`."
    )
    permission: Permission = Field(
        default="reject",
        description=(
            "What is answered when the agent asks for permission: `reject`, `allow`, or an async "
            "function that chooses one of the options."
        ),
    )
    eof_grace: float = Field(
        default=5.0, gt=0, description="Seconds the agent has to end after the end of its input."
    )
    term_grace: float = Field(
        default=2.0, gt=0, description="Seconds its process group has to end after SIGTERM."
    )
    kill_grace: float = Field(
        default=5.0, gt=0, description="Seconds after SIGKILL until a process is given up as lost."
    )
    startup_timeout: float = Field(
        default=60.0, gt=0, description="Seconds the agent has until it can take a prompt."
    )
    max_line_bytes: int = Field(
        default=64 * 2**20, gt=0, description="The longest message the agent may send."
    )
    max_output_bytes: int = Field(
        default=8 * 2**20,
        gt=0,
        description="The most that is kept of one turn: its text, its tool calls, and the "
        "arguments of those that run.",
    )
    structured_nudge_retries: int = Field(
        default=1,
        ge=0,
        description="How often an agent is asked again when its structured answer does not fit.",
    )

    @property
    def argv(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.command, *self.args)

    @property
    def graces(self) -> Graces:
        """How long each rung of the ladder may take."""
        return Graces(eof=self.eof_grace, term=self.term_grace, kill=self.kill_grace)
