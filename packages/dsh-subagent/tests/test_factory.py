"""Backends that come as plugins, from real distributions on the path."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dsh.subagent import ProviderPluginError, SubagentProvider, discover_providers

GOOD = """
class Factory:
    config_model = dict

    def create(self, host, config, /):
        from dsh.subagent.testing import ScriptedProvider
        return ScriptedProvider(name=config["name"])
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a distribution that offers these backends, its module holding this source."""

    def install(distribution: str, module: str, source: str, **providers: str) -> None:
        site = tmp_path / distribution
        info = site / f"{distribution}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n"
        )
        points = "\n".join(f"{name} = {where}" for name, where in providers.items())
        (info / "entry_points.txt").write_text(f"[dsh.subagent_providers]\n{points}\n")
        (site / f"{module}.py").write_text(source)
        monkeypatch.setattr(sys, "path", [str(site), *sys.path])
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


def found(name: str) -> Any:
    (plugin,) = (each for each in discover_providers() if each.name == name)
    return plugin


@pytest.mark.guarantee("B-SEAM-01")
def test_a_backend_of_any_distribution_is_found_and_made_by_its_factory(installed: Any) -> None:
    """Backends are told apart by name and come from wherever they are installed."""
    installed("good_dist", "good_plugin", GOOD, shiny="good_plugin:Factory")
    plugin = found("shiny")
    assert (plugin.distribution, plugin.reference) == ("good_dist 1.2", "good_plugin:Factory")
    provider: SubagentProvider = plugin.load().create(SimpleNamespace(), {"name": "mine"})
    assert provider.name == "mine"


def test_listing_imports_nothing(installed: Any) -> None:
    installed("lazy_dist", "lazy_plugin", GOOD, lazy="lazy_plugin:Factory")
    assert found("lazy")
    assert "lazy_plugin" not in sys.modules


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("raise SystemExit('no display')", "SystemExit: no display"),
        ("", "has no attribute 'Factory'"),
        ("Factory = 3", "it has no config_model"),
        ("class Factory:\n    config_model = dict", "it has no create"),
    ],
)
def test_a_broken_plugin_is_named_and_the_others_load(
    installed: Any, source: str, problem: str
) -> None:
    installed("good_dist", "good_plugin", GOOD, shiny="good_plugin:Factory")
    installed("bad_dist", "bad_plugin", source, rusty="bad_plugin:Factory")
    with pytest.raises(ProviderPluginError, match=problem) as caught:
        found("rusty").load()
    assert "'rusty' of bad_dist 1.2 (bad_plugin:Factory)" in str(caught.value)
    assert caught.value.code == "BROKEN_PLUGIN"
    assert found("shiny").load().config_model is dict
