"""The backend keeps the seam's contract, with real processes."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from dsh.subagent import DelegatingParent
from dsh.subagent.testing import CLAUSES, Drive, ScriptedParent, check_provider
from dsh.subagent_acp import AcpProvider


class AgentDrive(Drive):
    """The raw agent acts on the kit's own words; what runs is counted by the system."""

    def __init__(self, bench: Any) -> None:
        self._bench = bench

    def running(self) -> int:
        return len(self._bench.children())

    def worked(self) -> int:
        return len(self._bench.heard("session/prompt"))

    def parent(self) -> AbstractAsyncContextManager[DelegatingParent]:
        return ScriptedParent(cwd=str(Path.cwd()))


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.guarantee("B-ACP-01", "B-ACP-03", "B-ACP-05")
async def test_a_child_process_keeps_every_clause(bench: Any, clause: str) -> None:
    """A child is one process for one run, and a start that fails or is cancelled leaves none."""
    drive = AgentDrive(bench)
    await check_provider(lambda: AcpProvider(bench.config()), drive, clauses=[clause], limit=30)
