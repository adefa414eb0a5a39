"""Making a model from its settings, without asking it anything."""

import subprocess
import sys

import pytest
from pydantic import SecretStr, ValidationError

from dsh.agent import ChatRequest, ModelError, discover_models
from dsh.llm_anthropic import AnthropicConfig, AnthropicModel, model_factory


def test_it_is_found_by_its_entry_point() -> None:
    assert discover_models()["anthropic"].load() is model_factory


def test_anthropics_own_api_is_the_default() -> None:
    assert AnthropicConfig().base_url == "https://api.anthropic.com"
    assert AnthropicConfig().api_key_env == "ANTHROPIC_API_KEY"


@pytest.mark.parametrize("key", [None, SecretStr("")])
def test_a_missing_key_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, key: SecretStr | None
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match="set ANTHROPIC_API_KEY, or give api_key") as caught:
        AnthropicModel(AnthropicConfig(api_key=key))
    assert caught.value.code == "AUTH"


@pytest.mark.parametrize(
    "key", ["sk-01234\n", " sk-01234", "“sk-01234”", "sk-01\x0034", "sk 01234"]
)
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ModelError, match="another character that no key has") as caught:
        AnthropicModel(AnthropicConfig(api_key=SecretStr(key)))
    assert caught.value.code == "AUTH"
    assert "01" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "/v1",
        "ftp://host",
        "http://",
        "http://[::1",
        "http://host:99999",
        "http://ho st",
        "http://:0",
    ],
)
def test_an_address_that_is_none_is_refused_with_the_settings(url: str) -> None:
    with pytest.raises(ValidationError, match="base_url"):
        AnthropicConfig(base_url=url)


def test_a_key_is_read_from_the_variable_that_the_settings_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-0123456789")
    model = model_factory.create("m", AnthropicConfig(api_key_env="SOME_KEY"))
    assert "sk-0123456789" not in repr(vars(model))


@pytest.mark.parametrize(
    "settings",
    [{"timeout": 0}, {"max_retries": -1}, {"bas_url": "x"}, {"model": ""}, {"base_url": "/v1"}],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        AnthropicConfig.model_validate(settings)


def test_the_vendors_sdk_is_not_imported_before_it_is_used() -> None:
    program = (
        "import sys\n"
        "from dsh.llm_anthropic import AnthropicConfig, AnthropicModel\n"
        "AnthropicModel(AnthropicConfig(api_key='sk'))\n"
        "print(sorted({'anthropic', 'httpx2'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


async def test_an_sdk_that_is_not_there_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    async with AnthropicModel(AnthropicConfig(api_key=SecretStr("sk"))) as model:
        with pytest.raises(ModelError, match="install dsh-llm-anthropic") as caught:
            await model.generate(ChatRequest(model="m", messages=()), on_delta=print)
    assert caught.value.code == "SDK_MISSING"
