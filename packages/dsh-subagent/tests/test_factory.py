"""Backends that come as plugins, from real distributions on the path."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dsh.agent import PluginError
from dsh.subagent import SubagentProvider, discover_providers

GOOD = """
class Factory:
    config_model = dict

    def create(self, host, config, /):
        from dsh.subagent.testing import ScriptedProvider
        return ScriptedProvider(name=config["name"])

factory = Factory()
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


@pytest.mark.guarantee("B-SEAM-01")
def test_a_backend_of_any_distribution_is_found_and_made_by_its_factory(installed: Any) -> None:
    """Backends are told apart by name and come from wherever they are installed."""
    installed("good_dist", "good_plugin", GOOD, shiny="good_plugin:factory")
    plugin = discover_providers()["shiny"]
    assert plugin.distributions == ("good_dist 1.2",)
    host: Any = SimpleNamespace()
    provider: SubagentProvider = plugin.load().create(host, {"name": "mine"})
    assert provider.name == "mine"


def test_an_entry_point_may_name_a_class_that_makes_the_factory(installed: Any) -> None:
    installed("class_dist", "class_plugin", GOOD, shiny="class_plugin:Factory")
    host: Any = SimpleNamespace()
    provider = discover_providers()["shiny"].load().create(host, {"name": "mine"})
    assert provider.name == "mine"


def test_listing_imports_nothing(installed: Any) -> None:
    installed("lazy_dist", "lazy_plugin", GOOD, lazy="lazy_plugin:factory")
    assert "lazy" in discover_providers()
    assert "lazy_plugin" not in sys.modules


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import nothing_of_that_name", "No module named 'nothing_of_that_name'"),
        ("raise SystemExit('no display')", "SystemExit: no display"),
        ("", "has no attribute 'factory'"),
        ("factory = 3", "int is no ProviderFactory: it has no callable 'config_model'"),
        ("class factory:\n    config_model = dict", "it has no callable 'create'"),
    ],
)
def test_a_broken_plugin_is_named_and_the_others_load(
    installed: Any, source: str, problem: str
) -> None:
    installed("good_dist", "good_plugin", GOOD, shiny="good_plugin:factory")
    installed("bad_dist", "bad_plugin", source, rusty="bad_plugin:factory")
    found = discover_providers()
    with pytest.raises(PluginError, match=problem) as caught:
        found["rusty"].load()
    assert "'rusty' of dsh.subagent_providers (bad_dist 1.2)" in str(caught.value)
    assert found["shiny"].load().config_model is dict
