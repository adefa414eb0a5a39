"""The lock gate, and `--locked` under a foreign index."""

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.lock import check
from shipping.workshop import find_uv

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]
LOCK: Final = (ROOT / "uv.lock").read_text(encoding="utf-8")


def test_the_lock_of_this_repository_is_green() -> None:
    assert check(ROOT) == []


def test_a_foreign_host_is_named_with_the_packages_that_come_from_it(plant: Plant) -> None:
    lock = """
[[package]]
name = "trio"
source = { registry = "https://mirror.example:8443/simple" }
"""
    (failure,) = check(plant({"uv.lock": LOCK + lock}))
    assert "'mirror.example:8443' (trio)" in failure


VARIABLES: Final = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
)
CHECK_LOCK: Final = """\
. "$(dirname -- "$0")/bootstrap.sh"
cd "$root"
"$uv" lock --quiet --check
"""


@pytest.fixture
def workspace(plant: Plant) -> Path:
    """The manifests and the lock of this repository, and a command that only checks the lock."""
    names = ["pyproject.toml", "uv.lock", "scripts/bootstrap.sh"]
    names += [path.relative_to(ROOT).as_posix() for path in ROOT.glob("packages/*/pyproject.toml")]
    return plant(
        {name: (ROOT / name).read_text(encoding="utf-8") for name in names}
        | {"scripts/check-lock": CHECK_LOCK}
    )


@pytest.mark.parametrize("variable", VARIABLES)
def test_the_commands_accept_the_lock_with_an_index_variable_set(
    workspace: Path, variable: str
) -> None:
    check_lock(workspace, {variable: "https://mirror.invalid/simple"})
    assert (workspace / "uv.lock").read_text(encoding="utf-8") == LOCK


def test_the_commands_accept_the_lock_with_an_index_in_a_configuration_file(
    workspace: Path, plant: Plant
) -> None:
    plant({"home/uv/uv.toml": '[[index]]\nurl = "https://mirror.invalid/simple"\ndefault = true\n'})
    check_lock(workspace, {"XDG_CONFIG_HOME": str(workspace / "home")})


def check_lock(root: Path, variables: Mapping[str, str]) -> None:
    path = f"{Path(find_uv()).parent}:{os.environ['PATH']}"
    run = subprocess.run(
        ["sh", "scripts/check-lock"],
        cwd=root,
        env={**os.environ, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr  # the lock holds, and uv was asked in earnest


def test_every_command_that_installs_insists_on_the_lock() -> None:
    commands = [path for path in (ROOT / "scripts").iterdir() if path.is_file()]
    lines = [line for path in commands for line in path.read_text(encoding="utf-8").splitlines()]
    installing = [line for line in lines if re.search(r"\"\$uv\" (sync|run|export)\b", line)]
    assert installing
    assert all("--locked" in line for line in installing)
