"""Entry points: listed without an import, loaded one by one."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dsh.agent import PluginError, discover, discover_models

FACTORY = """
class Factory:
    config_model = dict
    def create(self, name, config): ...
factory = Factory()
"""


def install(site: Path, distribution: str, entries: str, **modules: str) -> None:
    """Put a distribution with these entry points of ``dsh.models`` where it is found."""
    info = site / f"{distribution}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[dsh.models]\n{entries}\n")
    for name, source in modules.items():
        (site / f"{name}.py").write_text(source)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_plugin_is_listed_without_being_imported(site: Path) -> None:
    install(site, "acme", "acme = acme_models:factory", acme_models=FACTORY)
    plugin = discover_models()["acme"]
    assert plugin.distributions == ("acme 1.0",)
    assert "acme_models" not in sys.modules
    assert type(plugin.load()).__name__ == "Factory"


def test_a_broken_plugin_leaves_the_others_usable(site: Path) -> None:
    install(site, "acme", "acme = acme_models:factory", acme_models=FACTORY)
    install(site, "broken", "broken = broken_models:factory", broken_models="1 / 0")
    found = discover_models()
    assert found["acme"].load() is not None
    with pytest.raises(PluginError, match=r"'broken' of dsh.models \(broken 1.0\).*ZeroDivision"):
        found["broken"].load()


def test_a_plugin_that_is_something_else_is_refused(site: Path) -> None:
    install(site, "odd", "odd = odd_models:factory", odd_models="factory = 3")
    with pytest.raises(PluginError, match="int is no ModelFactory"):
        discover_models()["odd"].load()


def test_a_name_offered_twice_is_refused_by_naming_both(site: Path) -> None:
    install(site, "acme", "same = acme_models:factory", acme_models=FACTORY)
    install(site, "other", "same = acme_models:factory")
    with pytest.raises(PluginError, match=r"\(acme 1.0, other 1.0\) is offered more than once"):
        discover_models()["same"].load()


def test_a_group_nobody_offers_is_empty() -> None:
    assert discover("dsh.nothing", lambda value: value) == {}
