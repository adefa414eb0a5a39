"""One parent and one service for a test."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

import pytest

from dsh.subagent import SubagentRun, SubagentService, SubagentStartRequest
from dsh.subagent.testing import Act, ScriptedParent, ScriptedProvider


@dataclass
class Seam:
    """A parent, a service, and a way to start what a test scripts."""

    parent: ScriptedParent
    service: SubagentService

    def script(self, *acts: Act, **options: Any) -> ScriptedProvider:
        """Register a provider that does that."""
        provider = ScriptedProvider(*acts, **options)
        self.service.register(provider)
        return provider

    def request(self, **fields: Any) -> SubagentStartRequest[Any]:
        """A request of the parent."""
        fields = {"prompt": "go", "parent": self.parent} | fields
        return SubagentStartRequest(**fields)

    async def start(self, *acts: Act, **fields: Any) -> SubagentRun[Any]:
        """Start a child that does that."""
        if acts:
            self.script(*acts)
        return await self.service.start("scripted", self.request(**fields))


@pytest.fixture
async def seam() -> AsyncGenerator[Seam]:
    async with ScriptedParent() as parent:
        yield Seam(parent, SubagentService())
