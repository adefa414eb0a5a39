"""The shell commands: what they say when something is missing."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]
COMMANDS: Final = ("add-package", "check", "coverage", "dev", "dsh", "release", "test", "wheels")
NEEDED: Final = ("basename", "dirname", "head", "readlink", "sed", "sort")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH with the shell's companions, and neither Python nor uv."""
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    return tmp_path


FAKE_PYTHON: Final = f"""\
#!/bin/sh
'''exec' {shlex.quote(sys.executable)} -S "$0" "$@"  # a first line could hold no space
'''
# Makes environments as `python -m venv --clear` does, into whose uv its pip "installs" a failure.
import pathlib, shutil, sys
if "venv" in sys.argv:
    folder = pathlib.Path(sys.argv[-1])
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    shutil.copy(__file__, folder / "bin" / "python")
elif "pip" in sys.argv:
    pathlib.Path(__file__).with_name("uv").symlink_to("/bin/false")
"""


def run(command: Path, *arguments: str, path: Path) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run(
        [shell, str(command), *arguments],
        cwd="/",
        env={**os.environ, "PATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def clone(plant: Plant) -> Path:
    """A checkout in which nothing has been set up."""
    files = [f"scripts/{name}" for name in (*COMMANDS, "bootstrap.sh")]
    return plant({"uv.lock": "", **{name: (ROOT / name).read_text("utf-8") for name in files}})


@pytest.mark.parametrize("command", COMMANDS)
def test_without_a_usable_python_a_command_says_which_would_do(
    clone: Path, bare: Path, command: str
) -> None:
    (bare / "python3").write_text("#!/bin/sh\nexit 1\n")  # one that is too old
    (bare / "python3").chmod(0o755)
    finished = run(clone / "scripts" / command, path=bare)
    assert finished.returncode == 1
    assert finished.stderr.startswith(f"scripts/{command}: no usable Python: need 3.11 or newer")


def test_a_command_works_through_a_link_to_it(clone: Path, bare: Path) -> None:
    (bare / "checks").symlink_to(clone / "scripts" / "check")
    finished = run(bare / "checks", path=bare)
    assert finished.stderr.startswith("scripts/check: no usable Python")


def test_installing_uv_leaves_what_others_keep_in_the_tools_folder(clone: Path, bare: Path) -> None:
    (bare / "python3").write_text(FAKE_PYTHON)
    (bare / "python3").chmod(0o755)
    (clone / ".tools" / "peers").mkdir(parents=True)
    finished = run(clone / "scripts" / "check", path=bare)
    assert "installing it into .tools/uv/" in finished.stderr
    assert sorted(path.name for path in (clone / ".tools").iterdir()) == ["peers", "uv"]
    assert "uv could not install what uv.lock names" in finished.stderr  # so that uv was run


def test_a_lock_that_is_out_of_date_is_said_to_be(clone: Path, bare: Path) -> None:
    (bare / "uv").write_text("#!/bin/sh\nexit 2\n")
    (bare / "uv").chmod(0o755)
    finished = run(clone / "scripts" / "check", path=bare)
    assert finished.returncode == 1
    assert "run `uv lock` and commit uv.lock" in finished.stderr


def test_what_a_command_starts_keeps_its_bytecode(
    clone: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (bare / "uv").write_text('#!/bin/sh\necho "<$PYTHONDONTWRITEBYTECODE>" >&2\nexit 2\n')
    (bare / "uv").chmod(0o755)
    assert run(clone / "scripts" / "test", path=bare).stderr.startswith("<>\n")


@pytest.mark.parametrize("command", ["coverage", "test"])
def test_tests_run_with_utf_8_whatever_the_locale(
    clone: Path, bare: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PYTHONUTF8", "0")
    (bare / "uv").write_text('#!/bin/sh\necho "<$PYTHONUTF8>" >&2\nexit 2\n')
    (bare / "uv").chmod(0o755)
    assert run(clone / "scripts" / command, path=bare).stderr.startswith("<1>\n")


def test_developing_an_unknown_package_names_the_known_ones(clone: Path, bare: Path) -> None:
    (bare / "uv").write_text("#!/bin/sh\n")
    (bare / "uv").chmod(0o755)
    (clone / "packages" / "dsh-one").mkdir(parents=True)
    finished = run(clone / "scripts" / "dev", "dsh-two", path=bare)
    assert finished.returncode == 1
    assert finished.stderr == "scripts/dev: no package named 'dsh-two'; there are: dsh-one\n"
