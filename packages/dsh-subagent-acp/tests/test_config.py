"""The configuration, the presets, and the backend as a plugin."""

import math
import subprocess
import sys
from typing import Any, cast

import pytest
from pydantic import ValidationError

from dsh.subagent import ProviderHost, SubagentService, UnknownProviderError, discover_providers
from dsh.subagent_acp import PRESETS, AcpConfig, AcpFactory, AcpProvider, preset


@pytest.mark.guarantee("B-ACP-16", "B-PROC-12")
@pytest.mark.parametrize("name", ["eof_grace", "term_grace", "kill_grace", "startup_timeout"])
@pytest.mark.parametrize("value", [0, -1, math.inf, math.nan, "soon"])
def test_a_grace_that_is_none_fails_when_it_is_loaded(name: str, value: Any) -> None:
    """Every grace is a positive, finite number of seconds, and anything else is refused at load."""
    with pytest.raises(ValidationError, match=name):
        AcpConfig.model_validate({"command": "agent", name: value})


@pytest.mark.parametrize(
    "settings",
    [{}, {"command": ""}, {"command": "a", "permission": "maybe"}, {"command": "a", "colour": 1}],
)
def test_what_is_no_configuration_is_refused(settings: Any) -> None:
    with pytest.raises(ValidationError):
        AcpConfig.model_validate(settings)


def test_a_credential_is_in_no_repr_and_in_no_refusal() -> None:
    env = {"X_KEY": "very-private"}
    assert "very-private" not in repr(AcpConfig(command="agent", env=env))
    with pytest.raises(ValidationError) as caught:
        AcpConfig.model_validate({"command": "a", "env": env | {"Y": 1}, "term_grace": -1})
    assert "very-private" not in str(caught.value)


@pytest.mark.parametrize("name", PRESETS)
def test_each_preset_is_a_configuration(name: str) -> None:
    config = preset(name, env={"A": "b"}, term_grace=1)
    known = PRESETS[name]
    assert config.argv == (known.command, *known.args)
    assert (config.provider_name, config.env, config.term_grace) == (name, {"A": "b"}, 1)
    assert known.install
    assert known.needs
    assert not set(known.credentials) & set(config.env)
    assert config.permission == "reject"


def test_an_unknown_preset_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="codex, claude-code, opencode, gemini, deepseek-harness"):
        preset("copilot")


def test_a_host_finds_and_makes_the_backend() -> None:
    found = discover_providers()["acp"]
    factory = found.load()
    assert isinstance(factory, AcpFactory)
    config = factory.config_model.model_validate({"command": "agent", "provider_name": "mine"})
    provider = factory.create(cast("ProviderHost", None), config)
    assert isinstance(provider, AcpProvider)
    assert provider.name == "mine"


@pytest.mark.guarantee("B-ACP-16")
async def test_a_backend_that_is_taken_back_can_no_longer_be_started(bench: Any) -> None:
    """Taking the backend back unregisters it; the run it has started lives on."""
    service = SubagentService()
    registration = service.register(AcpProvider(bench.config()))
    run = await service.start("acp", bench.request())
    registration.close()
    with pytest.raises(UnknownProviderError):
        await service.start("acp", bench.request())
    assert (await run.result()).completed
    await run.aclose()


def test_importing_the_backend_loads_neither_the_protocol_nor_asyncio() -> None:
    code = (
        "import sys, dsh.subagent_acp; print({'acp', 'asyncio', 'jsonschema'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "set()"
