"""The backend as a plugin: found by its entry point, configured, refused when misconfigured."""

import pytest
from pydantic import ValidationError

from dsh.agent import AgentRegistry
from dsh.subagent import discover_providers
from dsh.subagent_fork import ForkConfig, ForkFactory, ForkProvider, factory


class Host:
    agents = AgentRegistry()


HOST = Host()


def test_the_entry_point_makes_the_backend_from_its_settings() -> None:
    assert discover_providers()["fork"].load() is factory
    assert isinstance(factory, ForkFactory)
    config = ForkConfig(provider_name="mine", structured_nudge_retries=0)
    provider = factory.create(HOST, config)
    assert isinstance(provider, ForkProvider)
    assert provider.name == "mine"
    assert factory.create(HOST, ForkConfig()).name == "fork"


@pytest.mark.parametrize(
    "settings",
    [
        {"structured_nudge_retries": -1},
        {"structured_nudge_retries": True},
        {"retries": 1},
        {"provider_name": ""},
    ],
)
def test_settings_that_make_no_sense_are_refused_when_they_are_loaded(
    settings: dict[str, object],
) -> None:
    with pytest.raises(ValidationError):
        ForkConfig.model_validate(settings)
