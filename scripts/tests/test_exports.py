"""Public names nobody uses, and code nobody reaches."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.exports import EXCUSES, check, unfinished

Plant = Callable[[Mapping[str, str]], Path]

MANIFEST: Final = "packages/dsh-one/pyproject.toml"
MODULE: Final = "packages/dsh-one/src/dsh/one/_one.py"
TEST: Final = "packages/dsh-one/tests/test_one.py"
TREE: Final = {
    MANIFEST: '[project]\nname = "dsh-one"\n',
    "packages/dsh-one/src/dsh/one/__init__.py": (
        'from dsh.one._one import Made, make\n\n__all__ = ["Made", "make"]\n'
    ),
    MODULE: "class Made:\n    pass\n\n\ndef make() -> Made:\n    return Made()\n",
    TEST: "from dsh.one import make\n\ndef test_it():\n    make()\n",
}
DEAD: Final = TREE[MODULE] + "\n\ndef _left_over() -> None:\n    pass\n"


def test_a_name_a_test_uses_and_the_type_it_returns_hold(plant: Plant) -> None:
    assert check(plant(TREE)) == []


@pytest.mark.parametrize(
    "folder", ["examples", "tests-integration", "packages/dsh-two/src/dsh/two"]
)
def test_a_use_anywhere_outside_the_package_counts(plant: Plant, folder: str) -> None:
    use = {f"{folder}/one.py": "import dsh.one\ndsh.one.make()"}
    assert check(plant({**TREE, TEST: "", **use})) == []


def test_an_entry_point_is_a_use(plant: Plant) -> None:
    manifest = TREE[MANIFEST] + '[project.scripts]\none = "dsh.one:make"\n'
    assert check(plant({**TREE, TEST: "", MANIFEST: manifest})) == []


def test_a_public_name_nothing_outside_uses_is_found(plant: Plant) -> None:
    (failure,) = check(plant({**TREE, TEST: ""}))
    assert failure.startswith("dsh.one: make is public and nothing outside uses it; ")


def test_dead_code_is_found(plant: Plant) -> None:
    assert check(plant({**TREE, MODULE: DEAD})) == [
        f"{MODULE}: function _left_over is unused; use it, drop it or excuse it in {EXCUSES}"
    ]


def test_tests_are_read_and_not_judged(plant: Plant) -> None:
    assert check(plant({**TREE, TEST: TREE[TEST] + "\ndef fixture_of_no_one():\n    pass\n"})) == []


def test_an_excuse_needs_a_reason(plant: Plant) -> None:
    excuse = f'["{MODULE}"]\n_left_over = "{{}}"\n'
    assert check(plant({**TREE, MODULE: DEAD, EXCUSES: excuse.format("found by name")})) == []
    assert check(plant({**TREE, MODULE: DEAD, EXCUSES: excuse.format("")})) == [
        f"{EXCUSES}: _left_over of {MODULE} gives no reason"
    ]


def test_an_excuse_for_what_is_used_is_found(plant: Plant) -> None:
    assert check(plant({**TREE, EXCUSES: '["dsh.one"]\nmake = "asked for"\n'})) == [
        f"{EXCUSES}: make of dsh.one needs no excuse"
    ]


def test_a_package_that_is_being_built_is_not_judged_and_is_named(plant: Plant) -> None:
    manifest = TREE[MANIFEST] + '[tool.dsh]\nunfinished = "the rest"\n'
    root = plant({**TREE, MODULE: DEAD, MANIFEST: manifest})
    assert check(root) == []
    assert unfinished(root) == "not judged while unfinished: dsh-one"


def test_a_package_that_has_nothing_unused_is_finished(plant: Plant) -> None:
    manifest = TREE[MANIFEST] + '[tool.dsh]\nunfinished = "the rest"\n'
    assert check(plant({**TREE, MANIFEST: manifest})) == [
        "dsh-one: nothing in it is unused, so take its `unfinished` away"
    ]
