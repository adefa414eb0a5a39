"""The scripted provider as a plugin: one fixed answer, from a host's configuration."""

from typing import TYPE_CHECKING, Any, Final, final

from pydantic import BaseModel, ConfigDict

from dsh.subagent import ProviderFactory, ProviderHost, SubagentCapabilities
from dsh.subagent.testing import ScriptedProvider, reply

__all__ = ["MockConfig", "MockFactory", "factory"]


class MockConfig(BaseModel):
    """What the mock answers, and which optional request fields it lets through."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider_name: str = "mock"
    """What it is registered under."""
    reply: str = "done"
    """The text of every answer."""
    stop_reason: str = "completed"
    """Why every child ends."""
    structured: dict[str, Any] | None = None
    """The value for a request with an ``output_schema``; one that does not match it, or none, makes
    the run an ``error``."""
    inherits_parent_context: bool = False
    """What it says of its children's knowledge of the conversation."""
    output_schema: bool = True
    """Whether a request may have an ``output_schema``."""
    depth_limit: bool = True
    """Whether a request may have a ``max_depth``."""
    tool_filter: bool = True
    """Whether a request may have a ``tool_filter``."""
    persona: bool = True
    """Whether a request may have a ``persona``."""


@final
class MockFactory:
    """Makes a `ScriptedProvider` that gives one answer for good; needs nothing of its host."""

    config_model = MockConfig
    """What a host's configuration of it is validated with."""

    def create(self, host: ProviderHost | None, config: MockConfig, /) -> ScriptedProvider:
        """See `dsh.subagent.ProviderFactory.create`."""
        return ScriptedProvider(
            reply(config.reply, stop_reason=config.stop_reason, structured=config.structured),
            name=config.provider_name,
            capabilities=SubagentCapabilities(
                output_schema=config.output_schema,
                depth_limit=config.depth_limit,
                tool_filter=config.tool_filter,
                persona=config.persona,
            ),
            inherits_parent_context=config.inherits_parent_context,
        )


factory: Final = MockFactory()
"""What the entry point names."""

if TYPE_CHECKING:
    _: ProviderFactory = factory
