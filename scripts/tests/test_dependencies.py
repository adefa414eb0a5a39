"""What a member imports and what its manifest declares."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.dependencies import check

Plant = Callable[[Mapping[str, str]], Path]

FOLDER: Final = "packages/dsh-one"
SOURCE: Final = f"{FOLDER}/src/dsh/one/__init__.py"
MANIFEST: Final = f"{FOLDER}/pyproject.toml"
TEST: Final = f"{FOLDER}/tests/test_one.py"
HEAD: Final = '[project]\nname = "dsh-one"\n'
NEEDS_TRIO: Final = HEAD + 'dependencies = ["trio>=0.31,<1"]\n'


def faults(plant: Plant, manifest: str, source: str, test: str = "") -> list[str]:
    return check(plant({MANIFEST: manifest, SOURCE: source, TEST: test}))


def test_a_dependency_that_is_declared_and_imported_holds(plant: Plant) -> None:
    assert faults(plant, NEEDS_TRIO, "import sys\nimport trio.lowlevel\nfrom . import x\n") == []


@pytest.mark.parametrize(
    ("line", "module", "distribution"),
    [
        ("import trio", "trio", "trio"),
        ("from dsh.tool_two import Two", "dsh.tool_two", "dsh-tool-two"),
        ("import dsh.tool_two._inner", "dsh.tool_two._inner", "dsh-tool-two"),
        ("from dsh import tool_two", "dsh.tool_two", "dsh-tool-two"),
        ("import not_installed", "not_installed", "not-installed"),
    ],
)
def test_an_undeclared_import_is_found(
    plant: Plant, line: str, module: str, distribution: str
) -> None:
    assert faults(plant, HEAD, f"def f():\n    {line}\n") == [
        f"{FOLDER}/src/dsh/one/__init__.py:2: imports {module};"
        f" {distribution} is not among its dependencies"
    ]


def test_an_import_under_another_name_than_its_distribution_is_known(plant: Plant) -> None:
    manifest = HEAD + 'dependencies = ["pytest-trio", "PyYAML"]\n'
    failures = faults(plant, manifest, "import pytest_trio\n")
    assert failures == [f"{FOLDER}: pyyaml is declared and never imported"]


def test_an_extra_may_be_imported_and_must_be(plant: Plant) -> None:
    manifest = HEAD + '[project.optional-dependencies]\nextra = ["trio"]\n'
    assert faults(plant, manifest, "import trio\n") == []
    failures = faults(plant, manifest, "import sys\nimport dsh.one\n")
    assert failures == [f"{FOLDER}: trio is declared and never imported"]


def test_tests_may_import_the_test_group_and_the_source_may_not(plant: Plant) -> None:
    manifest = HEAD + '[dependency-groups]\ntest = ["pytest>=9"]\n'
    assert faults(plant, manifest, "", "import pytest\nfrom conftest import x\n") == [
        f"{FOLDER}/tests/test_one.py:2: imports conftest; conftest is not among its group `test`"
    ]
    assert faults(plant, manifest, "", "import pytest\nimport dsh.one\n") == []
    (failure,) = faults(plant, manifest, "import pytest\n")
    assert failure.endswith(":1: imports pytest; pytest is not among its dependencies")


def test_an_unused_dependency_is_found_once_there_is_code(plant: Plant) -> None:
    assert faults(plant, NEEDS_TRIO, '"""Nothing yet."""\n') == []
    assert faults(plant, NEEDS_TRIO, "import dsh.one._x\n") == [
        f"{FOLDER}: trio is declared and never imported"
    ]


def test_a_package_that_is_being_built_may_declare_what_it_will_need(plant: Plant) -> None:
    manifest = NEEDS_TRIO + '[tool.dsh]\nunfinished = "the rest"\n'
    assert faults(plant, manifest, "import dsh.one._x\n") == []


def test_a_dependency_may_go_unimported_with_a_reason_only(plant: Plant) -> None:
    excuse = '[tool.dsh.unimported]\n{} = "{}"\n'
    source = "import dsh.one._x\n"
    assert faults(plant, NEEDS_TRIO + excuse.format("trio", "loaded by name"), source) == []
    assert len(faults(plant, NEEDS_TRIO + excuse.format("trio", " "), source)) == 1
    for idle in (
        faults(plant, HEAD + excuse.format("trio", "loaded by name"), source),
        faults(plant, NEEDS_TRIO + excuse.format("trio", "loaded by name"), "import trio\n"),
    ):
        assert idle == [
            f"{FOLDER}: [tool.dsh.unimported] names trio, which is imported or not declared"
        ]
