"""The site: what fails its build, and what its gate finds without keeping one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.docs import check
from website.build import build
from website.crawl import crawl
from website.undocumented import undocumented

Plant = Callable[[Mapping[str, str]], Path]

MANIFEST: Final = '[project]\nname = "dsh-x"\nversion = "0"\n'
INIT: Final = "packages/dsh-x/src/dsh/x/__init__.py"


@pytest.mark.usefixtures("coloured")
def test_each_link_anchor_and_page_that_is_lost_is_a_failure_of_the_build(plant: Plant) -> None:
    root = plant(
        {
            "docs/index.md": "# T\n\n[a](gone.md) [b](other.md#gone) [c](#gone)\n",
            "docs/other.md": "# Other\n\nNo tree holds this page.\n",
            "docs/tutorial.md": "# Tutorial\n\n```nonsense\n???\n```\n",
        }
    )
    found = "\n".join(sorted(check(root)))
    assert [line.partition(": WARNING: ")[0] for line in found.splitlines()] == [
        "docs/index.md:3",
        "docs/index.md:3",
        "docs/index.md:3",
        "docs/other.md",
        "docs/tutorial.md:3",
    ], found
    for each in (
        "'gone.md'",
        "in doc 'docs/other': 'gone'",
        "found: 'gone' ",
        "document isn't included in any toctree",
        "nonsense",
    ):
        assert each in found
    assert not (root / ".site").exists()


def test_a_site_has_the_pages_that_are_there_and_loads_nothing_from_elsewhere(
    plant: Plant, tmp_path: Path
) -> None:
    root = plant(
        {
            "tree/README.md": "# Family\n\n[Start](docs/tutorial.md#the-first-step)\n",
            "tree/docs/index.md": "# T\n\n[r](../README.md) [source](../scripts/run.py)\n",
            "tree/docs/tutorial.md": "# Tutorial\n\n## The first step\n\n```python\nx = 1\n```\n",
            "tree/docs/how-to/write-a-backend.md": "# Write a backend\n",
            "tree/scripts/run.py": "",
        }
    )
    site = tmp_path / "site"
    assert build(root / "tree", site) == []
    assert "Write a backend" in (site / "docs/index.html").read_text(encoding="utf-8")
    assert 'href="docs/tutorial.html#the-first-step"' in (site / "README.html").read_text(
        encoding="utf-8"
    )


def test_a_list_of_names_is_the_page_of_their_docstrings_and_has_an_anchor_for_each(
    plant: Plant, tmp_path: Path
) -> None:
    names = "Public names of it.\n\n[dsh.subagent]\nclass SubagentRun\n    def cancel()\n"
    link = "(api/dsh-subagent.txt#dsh.subagent.SubagentRun.cancel)"
    root = plant(
        {
            "tree/packages/dsh-subagent/README.md": "# The seam\n",
            "tree/packages/README.md": "# Packages\n",
            "tree/docs/api/dsh-subagent.txt": names,
            "tree/docs/index.md": f"# T\n\n[cancel]{link}\n",
        }
    )
    site = tmp_path / "site"
    build(root / "tree", site)
    page = (site / "docs/api/dsh-subagent.html").read_text(encoding="utf-8")
    assert "Cancel the child; its result says" in page
    assert 'id="dsh.subagent.SubagentRun.cancel"' in page
    assert f'href="api/dsh-subagent.html#{link[22:-1]}"' in (site / "docs/index.html").read_text(
        encoding="utf-8"
    )


def test_a_built_page_that_points_nowhere_or_loads_from_elsewhere_is_found(plant: Plant) -> None:
    site = plant(
        {
            "a.html": '<p id="here"><a href="b.html#x"></a><a href="#here"></a><a href="c.html">',
            "b.html": '<a href="https://example.org"></a><script src="https://example.org/s.js">',
        }
    )
    assert crawl(site) == [
        "a.html: points at b.html#x, where there is no such anchor",
        "a.html: points at c.html, which is not there",
        "b.html: loads https://example.org/s.js, which is not of this site",
    ]


def test_a_public_name_that_nothing_explains_is_found(plant: Plant) -> None:
    source = '''\
class _Base:
    """Nobody sees it."""

    bare: int

class Thing(_Base):
    """It has a ``width`` and a *height*."""

    width: int
    height: int
    depth: int
    depth_unit: str
    """Explained here."""
    _hidden: int

    def __len__(self) -> int: ...
    def open(self) -> None: ...
    def close(self) -> None:
        """Close it."""

class Other(Thing):
    """What its base explains is explained."""

    def close(self) -> None: ...

def function() -> None: ...
def private() -> None: ...

LIMIT = 3

__all__ = ["LIMIT", "Other", "Thing", "function"]
'''
    root = plant({"packages/dsh-x/pyproject.toml": MANIFEST, INIT: source})
    says = "public, and nothing says what it is for"
    assert undocumented(root) == [
        f"dsh.x.LIMIT: {says}",
        f"dsh.x.Other.bare: {says}",
        f"dsh.x.Thing.bare: {says}",
        f"dsh.x.Thing.depth: {says}",
        f"dsh.x.Thing.open: {says}",
        f"dsh.x.function: {says}",
        f"dsh.x: {says}",
    ]


def test_what_a_pydantic_field_is_described_as_explains_it(plant: Plant) -> None:
    source = '''\
"""A package."""

from pydantic import BaseModel, ConfigDict, Field

class XConfig(BaseModel):
    """Its configuration."""

    model_config = ConfigDict(extra="forbid")
    told: int = Field(default=1, description="How many.")
    untold: int = Field(default=1)

__all__ = ["XConfig"]
'''
    root = plant({"packages/dsh-x/pyproject.toml": MANIFEST, INIT: source})
    assert undocumented(root) == ["dsh.x.XConfig.untold: public, and nothing says what it is for"]
