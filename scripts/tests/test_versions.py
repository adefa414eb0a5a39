"""One version for the family."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.registry import GATES
from gates.versions import GATE, check, span, version, write

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]

ONE: Final = "packages/dsh-one/pyproject.toml"
TWO: Final = "packages/dsh-two/pyproject.toml"
TREE: Final = {
    "pyproject.toml": '[project]\nname = "root"\nversion = "0.3.1"  # why\n',
    ONE: '[project]\nname = "dsh-one"\nversion = "0.3.1"\ndependencies = ["trio>=0.31,<1"]\n',
    TWO: (
        '[project]\nname = "dsh-two"\nversion = "0.3.1"\ndependencies = ["dsh-one>=0.3,<0.4"]\n\n'
        '[project.optional-dependencies]\nmore = ["dsh-one[x]>=0.3,<0.4"]\n\n'
        '[dependency-groups]\ntest = ["dsh-one>=0.3,<0.4"]\n'
    ),
}


def test_the_members_of_this_workspace_have_its_version() -> None:
    assert check(ROOT) == []
    assert GATE in GATES


def test_members_that_follow_the_root_are_green(plant: Plant) -> None:
    assert check(plant(TREE)) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "failure"),
    [
        (ONE, '"0.3.1"', '"0.3.0"', "its version is '0.3.0', the root's is '0.3.1'"),
        (ONE, 'version = "0.3.1"', 'dynamic = ["version"]', "its version is ''"),
        (TWO, "s = [", 's = ["dsh-one>=0.2,<0.4"]#', "asks for 'dsh-one<0.4,>=0.2' instead of"),
        (TWO, "e = [", 'e = ["dsh-one"]#', "asks for 'dsh-one' instead of '>=0.3,<0.4'"),
        (TWO, "t = [", 't = ["dsh-one>=0.3"]#', "asks for 'dsh-one>=0.3' instead of"),
    ],
)
def test_each_way_to_depart_from_the_root_is_named(
    plant: Plant, file: str, old: str, new: str, failure: str
) -> None:
    found = check(plant({**TREE, file: TREE[file].replace(old, new, 1)}))
    assert [each for each in found if each.startswith(f"{file}: {failure}")]


@pytest.mark.parametrize("given", ["0", "0.1", "1.0.0rc1", "01.0.0", ""])
def test_a_version_that_is_not_three_numbers_is_refused(plant: Plant, given: str) -> None:
    root = plant({**TREE, "pyproject.toml": f'[project]\nversion = "{given}"\n'})
    (failure,) = check(root)
    assert failure.startswith(f"pyproject.toml: the version {given!r} is not three numbers")


@pytest.mark.parametrize(
    ("version", "range"),
    [("0.3.1", ">=0.3,<0.4"), ("0.10.0", ">=0.10,<0.11"), ("2.4.6", ">=2.4,<3")],
)
def test_a_range_ends_where_others_may_break(version: str, range: str) -> None:
    assert span(version) == range


def test_a_new_version_is_written_everywhere_and_nothing_else_is(plant: Plant) -> None:
    root = plant(TREE)
    assert write(root, "0.4.0") == ["pyproject.toml", ONE, TWO]
    assert (version(root), check(root)) == ("0.4.0", [])
    assert "trio>=0.31,<1" in (root / ONE).read_text("utf-8")
    assert write(root, "0.4.0") == []


def test_a_version_that_would_not_do_changes_nothing(plant: Plant) -> None:
    root = plant(TREE)
    with pytest.raises(ValueError, match="not three numbers"):
        write(root, "0.4")
    assert version(root) == "0.3.1"
