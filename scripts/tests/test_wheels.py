"""The command that installs each wheel alone."""

import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.workspace import members
from verify_wheels import dependencies, foreign_files, main

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]


def test_a_member_comes_with_the_members_it_needs_however_far_off(plant: Plant) -> None:
    manifest = '[project]\nname = "dsh-{}"\ndependencies = {}\n'
    root = plant(
        {
            "packages/dsh-a/pyproject.toml": manifest.format("a", '["dsh-b>=0.1,<0.2", "trio"]'),
            "packages/dsh-b/pyproject.toml": manifest.format("b", '["dsh-c", "dsh-d ; 1"]'),
            "packages/dsh-c/pyproject.toml": manifest.format("c", '["dsh-d[x]"]'),
            "packages/dsh-d/pyproject.toml": manifest.format("d", "[]"),
            "packages/dsh-e/pyproject.toml": manifest.format("e", "[]"),
        }
    )
    workspace = {member.name: member for member in members(root)}
    assert dependencies(workspace["dsh-a"], workspace) == ["dsh-a", "dsh-b", "dsh-c", "dsh-d"]


def test_a_file_outside_the_portion_is_found_in_a_wheel(plant: Plant) -> None:
    root = plant({"packages/dsh-one/pyproject.toml": '[project]\nname = "dsh-one"\n'})
    (member,) = members(root)
    wheel = root / "dsh_one-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("dsh/one/__init__.py", "dsh_one-1.dist-info/RECORD", "dsh/__init__.py"):
            archive.writestr(name, "")
    assert foreign_files(wheel, member) == ["dsh/__init__.py"]


@pytest.mark.wheels
def test_every_wheel_installs_alone_and_imports(capsys: pytest.CaptureFixture[str]) -> None:
    uv = shutil.which("uv") or str(ROOT / ".tools" / "uv" / "bin" / "uv")
    assert main(["--uv", uv]) == 0, capsys.readouterr().out
