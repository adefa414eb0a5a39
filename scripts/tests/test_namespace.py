"""The namespace gate."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gates.namespace import check, intruders

Plant = Callable[[Mapping[str, str]], Path]

MEMBER = "packages/dsh-one"
GREEN = {
    "pyproject.toml": '[dependency-groups]\ndev = ["dsh-one"]\n',
    f"{MEMBER}/pyproject.toml": '[project]\nname = "dsh-one"\n',
    f"{MEMBER}/README.md": "# dsh-one\n",
    f"{MEMBER}/LICENSE": "MIT\n",
    f"{MEMBER}/src/dsh/one/__init__.py": "",
    f"{MEMBER}/src/dsh/one/py.typed": "",
}


def test_a_complete_member_is_green(plant: Plant) -> None:
    assert check(plant(GREEN)) == []


def test_a_stray_init_of_the_namespace_is_named(plant: Plant) -> None:
    (failure,) = [
        each
        for each in check(plant({**GREEN, f"{MEMBER}/src/dsh/__init__.py": ""}))
        if "hides" in each
    ]
    assert failure.startswith("packages/dsh-one/src/dsh/__init__.py: ")


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "src/dsh/one/py.typed"])
def test_a_file_every_member_has_may_not_be_missing(plant: Plant, name: str) -> None:
    root = plant(GREEN)
    (root / MEMBER / name).unlink()
    assert check(root) == [f"{MEMBER}/{name}: missing"]


def test_a_member_outside_the_development_group_is_named(plant: Plant) -> None:
    (failure,) = check(plant({**GREEN, "pyproject.toml": "[dependency-groups]\ndev = []\n"}))
    assert failure.startswith("pyproject.toml: dsh-one is missing in the dev group")


def test_a_portion_named_otherwise_than_its_distribution_is_found(plant: Plant) -> None:
    (failure,) = check(plant({**GREEN, f"{MEMBER}/src/dsh/two/__init__.py": ""}))
    assert failure == "packages/dsh-one/src: has ['one', 'two'], expected dsh.one alone"


def test_an_unrelated_distribution_named_dsh_is_named_with_its_version(plant: Plant) -> None:
    site = plant({"dsh-9.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: dsh\nVersion: 9.1\n"})
    (failure,) = intruders([str(site)])
    assert "dsh 9.1 claims the package `dsh`" in failure


def test_a_distribution_that_ships_the_namespace_as_a_package_is_named(plant: Plant) -> None:
    info = "shells-2.dist-info"
    site = plant(
        {
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: shells\nVersion: 2\n",
            f"{info}/RECORD": "dsh/__init__.py,,\n",
            "dsh/__init__.py": "",
        }
    )
    (failure,) = intruders([str(site)])
    assert "shells 2 claims the package `dsh`" in failure


def test_an_environment_without_intruders_is_green(plant: Plant) -> None:
    info = "dsh_one-1.dist-info"
    site = plant(
        {
            f"{info}/METADATA": "Metadata-Version: 2.1\nName: dsh-one\nVersion: 1\n",
            f"{info}/RECORD": "dsh/one/__init__.py,,\n",
        }
    )
    assert intruders([str(site)]) == []
