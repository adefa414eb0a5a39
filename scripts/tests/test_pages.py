"""The pages made from the source and the manifests, and the snapshot of the public names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.pages import API, check
from gates.workspace import members
from pages import api, configuration, errors, packages, picture
from pages.registry import PAGES

Plant = Callable[[Mapping[str, str]], Path]

ROOT: Final = Path(__file__).resolve().parents[2]
ONE: Final = "packages/dsh-one/src/dsh/one"
TWO: Final = "packages/dsh-two/src/dsh/two"
TREE: Final = {
    "packages/dsh-one/pyproject.toml": (
        '[project]\nname = "dsh-one"\ndescription = "The first."\ndependencies = ["trio>=0.31"]\n'
        '[tool.dsh.seams]\nmodels = "interface"\n'
    ),
    f"{ONE}/__init__.py": (
        '"""One."""\n\nfrom dsh.one._errors import OneError, OneStopError\n'
        "from dsh.one._thing import Thing, make\n\n"
        '__all__ = ["OneError", "OneStopError", "Thing", "make"]\n'
    ),
    f"{ONE}/_errors.py": (
        'class OneError(Exception):\n    """Base of all."""\n\n    code: str\n\n\n'
        'class OneStopError(OneError):\n    """It stopped.\n\n    More."""\n\n'
        '    code = "STOPPED"\n'
        "\n\nclass NoCodeError(Exception):\n    pass\n"
    ),
    f"{ONE}/_thing.py": (
        "from dataclasses import dataclass, field\nfrom typing import Final\n\n"
        "EMPTY: Final = object()\n\n\n"
        "@dataclass(frozen=True)\nclass Thing:\n    size: int\n"
        "    tags: list[str] = field(default_factory=list)\n    _hidden: int = 0\n\n"
        "    @property\n    def big(self) -> bool:\n        return self.size > 3\n\n\n"
        "async def make(size: int, /, *, mark: object = EMPTY) -> Thing:\n"
        "    return Thing(size)\n\n\ndef inner() -> None: ...\n"
    ),
    "packages/dsh-two/pyproject.toml": (
        '[project]\nname = "dsh-two"\ndescription = "The second."\ndependencies = ["dsh-one"]\n'
        '[tool.dsh.seams]\nmodels = "implementation"\n'
    ),
    f"{TWO}/__init__.py": (
        "from dsh.one import OneError\nfrom dsh.two._config import TwoConfig, TwoError\n\n"
        '__all__ = ["OneError", "TwoConfig", "TwoError"]\n'
    ),
    f"{TWO}/_config.py": (
        "from typing import Annotated, ClassVar\n\nfrom pydantic import BaseModel, Field\n\n"
        "from dsh.one import OneError\n\n\n"
        'class TwoError(OneError):\n    """Too much."""\n\n    code = "TWO"\n\n\n'
        'class TwoConfig(BaseModel, extra="forbid"):\n    """How two behaves."""\n\n'
        "    kind: ClassVar[str] = 'two'\n"
        '    url: str\n    """Where it is."""\n'
        '    retries: int = Field(default=2, ge=0, description="How often | at most.")\n'
        '    grace: Annotated[float, Field(gt=0, description="Seconds.")] = 1.5\n'
        '    names: list[str] = Field(default_factory=list, description="Who.")\n'
    ),
}


@pytest.fixture
def tree(plant: Plant) -> Path:
    """A small family, every page of it up to date."""
    root = plant(TREE)
    for page in (packages.PAGE, configuration.PAGE, errors.PAGE, api.PAGE):
        page.write(root)
    return root


def edit(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_pages_that_are_up_to_date_hold(tree: Path) -> None:
    assert check(tree) == []
    assert API.check(tree) == []


def test_the_errors_are_listed_with_code_base_and_summary(tree: Path) -> None:
    page = (tree / errors.PATH).read_text(encoding="utf-8")
    assert "| `dsh.one.OneStopError` | `STOPPED` | `OneError` | It stopped. |" in page
    assert "| `dsh.one.OneError` | none | `Exception` | Base of all. |" in page
    assert "| `dsh.two.TwoError` | `TWO` | `OneError` | Too much. |" in page
    assert "NoCodeError" not in page


def test_the_configuration_is_listed_field_by_field(tree: Path) -> None:
    page = (tree / configuration.PATH).read_text(encoding="utf-8")
    assert "## dsh-two: `dsh.two.TwoConfig`\n\nHow two behaves.\n" in page
    assert "| `url` | `str` | required | Where it is. |" in page
    assert "| `retries` | `int, ≥ 0` | `2` | How often \\| at most. |" in page
    assert "| `grace` | `float, > 0` | `1.5` | Seconds. |" in page
    assert "| `names` | `list[str]` | `list()` | Who. |" in page
    assert "kind" not in page


def test_the_packages_are_listed_with_graph_and_seams(tree: Path) -> None:
    page = (tree / packages.PATH).read_text(encoding="utf-8")
    assert "    dsh-two --> dsh-one\n" in page
    assert "| `dsh.one` | The first. | trio |" in page
    assert "| models | dsh-one | dsh-two |  |" in page


@pytest.mark.guarantee("B-GATE-14")
@pytest.mark.parametrize(
    ("path", "old", "new", "page"),
    [
        (f"{ONE}/_errors.py", '"STOPPED"', '"HALTED"', errors.PATH),
        (f"{TWO}/_config.py", "default=2", "default=3", configuration.PATH),
        ("packages/dsh-one/pyproject.toml", '"trio>=0.31"', "", packages.PATH),
        ("docs/errors.md", "STOPPED", "BY-HAND", errors.PATH),
    ],
)
def test_a_page_behind_its_source_is_found(
    tree: Path, path: str, old: str, new: str, page: str
) -> None:
    """A page of packages, configuration or errors fails once its source says something else."""
    edit(tree, path, old, new)
    assert check(tree) == [f"{page}: stale; run scripts/generate"]


def test_a_setting_nobody_explains_is_found(tree: Path) -> None:
    edit(tree, f"{TWO}/_config.py", '    """Where it is."""\n', "")
    failures = check(tree)
    assert "dsh.two.TwoConfig.url: no description, neither in its Field nor below it" in failures


@pytest.mark.parametrize(
    ("path", "old", "new", "what"),
    [
        ("dsh-two", '"implementation"', '"helper"', "dsh-two: 'helper' is no role"),
        ("dsh-two", '"implementation"', '"interface"', "is its interface, not 2"),
        ("dsh-one", '"interface"', '"consumer"', "is its interface, not 0"),
        ("dsh-two", '"dsh-one"', "", "dsh-two: part of seam models, so it depends on dsh-one"),
    ],
)
def test_a_role_that_cannot_be_is_found(
    tree: Path, path: str, old: str, new: str, what: str
) -> None:
    edit(tree, f"packages/{path}/pyproject.toml", old, new)
    assert any(what in failure for failure in check(tree))


def test_a_consumer_that_knows_an_implementation_is_found(tree: Path) -> None:
    manifest = tree / "packages/dsh-three/pyproject.toml"
    manifest.parent.mkdir()
    manifest.write_text(
        '[project]\nname = "dsh-three"\ndependencies = ["dsh-one", "dsh-two"]\n'
        '[tool.dsh.seams]\nmodels = "consumer"\n'
    )
    assert "dsh-three: a consumer of seam models knows dsh-one, not dsh-two" in check(tree)


def test_the_snapshot_shows_what_callers_write_against(tree: Path) -> None:
    one = (tree / "docs/api/dsh-one.txt").read_text(encoding="utf-8")
    assert "[dsh.one]\n" in one
    assert "@dataclass(frozen=True) class Thing\n" in one
    assert "    tags: list[str] = field(default_factory=list)\n" in one
    assert "    property big: bool\n" in one
    assert "async def make(size: int, /, *, mark: object = EMPTY) -> Thing\n" in one
    assert "_hidden" not in one.replace("_hidden: int = 0) -> None", "")
    assert "inner" not in one
    assert "OneError = dsh.one._errors.OneError" in (tree / "docs/api/dsh-two.txt").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size: int, /", "size: int"),
        ("    def big", "    def large"),
        ("size: int\n", "size: str\n"),
    ],
)
def test_a_changed_signature_is_found(tree: Path, old: str, new: str) -> None:
    edit(tree, f"{ONE}/_thing.py", old, new)
    assert API.check(tree) == ["docs/api/dsh-one.txt: stale; run scripts/generate"]


def test_a_name_no_longer_public_is_found(tree: Path) -> None:
    edit(tree, f"{ONE}/__init__.py", ', "make"', "")
    assert API.check(tree) == ["docs/api/dsh-one.txt: stale; run scripts/generate"]


def test_what_is_private_may_change(tree: Path) -> None:
    edit(tree, f"{ONE}/_thing.py", "def inner() -> None", "def other() -> int")
    assert API.check(tree) == []


def test_the_snapshot_of_a_package_that_is_gone_is_found_and_taken_away(tree: Path) -> None:
    (tree / "packages/dsh-two/pyproject.toml").unlink()
    assert API.check(tree) == ["docs/api/dsh-two.txt: nothing makes it; run scripts/generate"]
    assert api.PAGE.write(tree) == ["docs/api/dsh-two.txt"]
    assert API.check(tree) == []


def test_generated_files_belong_to_one_page_each() -> None:
    owned = [path for page in PAGES for path in ROOT.glob(page.owns)]
    assert len(owned) == len({*owned})


LAYERS: Final = "[importlinter:contract:layers]\nlayers =\n    two | gone\n    one\n"


def test_the_picture_has_each_package_in_its_layer(plant: Plant) -> None:
    root = plant({**TREE, picture.ARCHITECTURE: LAYERS})
    assert picture.layers(root) == [["dsh-two", "dsh-gone"], ["dsh-one"]]
    drawn = picture.render(root)[picture.PATH]
    assert drawn.index(">dsh-two<") < drawn.index(">dsh-one<")
    assert ">dsh-gone<" not in drawn


def test_the_picture_of_this_workspace_has_all_of_it() -> None:
    drawn = picture.render(ROOT)[picture.PATH]
    assert [each.name for each in members(ROOT) if f">{each.name}<" not in drawn] == []
