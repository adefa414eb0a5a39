"""The command that adds a package, on a copy of the tree, and the page that tells what it does."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from add_package import EDITS, FILES, MADE, STEPS, TEMPLATE, add, names, remove
from gates.markdown import headings, prose_lines, section
from gates.registry import GATES as ALL
from shipping.workshop import find_uv

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = "docs/adding-a-package.md"
NAME: Final = "dsh-subagent-dummy"
STRUCTURAL: Final = ("namespace", "versions", "family", "layers", "dependencies", "ruff", "format")
GATES: Final = tuple(gate.name for gate in ALL if gate.name != "basedpyright")
"""Types are seen by mypy; the other checker looks at the whole tree, which takes minutes."""
UNDOCUMENTED: Final = """
from pathlib import Path
from website.undocumented import undocumented
print(*undocumented(Path()), sep="\\n", end="")
"""


def git(tree: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments]
    return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what git knows of this checkout or would be told, committed."""
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    for name in listed:
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message=all of it")
    return tmp_path


@pytest.fixture
def no_uv(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A uv that does as it is told and writes nothing."""
    path = tmp_path_factory.mktemp("bin") / "uv"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    paths = (tree / "scripts", tree / "packages" / NAME / "src")
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_backend_is_added_keeps_the_contract_and_goes_without_a_trace(
    tree: Path, no_uv: str
) -> None:
    add(NAME, tree, no_uv)
    assert f"?? packages/{NAME}/" in git(tree, "status", "--short")
    contract = run(tree, "-m", "pytest", "-q", "-x", f"packages/{NAME}/tests/test_contract.py")
    assert contract.returncode == 0, contract.stdout
    structure = run(tree, "-m", "gates", *STRUCTURAL)
    assert structure.returncode == 0, structure.stdout
    unsaid = run(tree, "-c", UNDOCUMENTED)
    assert unsaid.stdout == "", unsaid.stderr
    remove(NAME, tree, no_uv)
    assert git(tree, "status", "--short") == ""


@pytest.mark.wheels
def test_what_is_added_is_green_in_an_environment_of_its_own(tree: Path) -> None:
    path = f"{Path(find_uv()).parent}{os.pathsep}{os.environ['PATH']}"
    for command in (
        ["scripts/add-package", NAME],
        ["scripts/check", *GATES],
        [".venv/bin/python", "-m", "pytest", "-q", f"packages/{NAME}"],
        [
            ".venv/bin/python",
            "-m",
            "pytest",
            "-q",
            "-k",
            NAME,
            "scripts/tests/test_examples.py",
        ],
        ["scripts/add-package", "--remove", NAME],
    ):
        finished = subprocess.run(
            command,
            cwd=tree,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, f"{command}\n{finished.stdout}{finished.stderr}"
    assert git(tree, "status", "--short") == ""


@pytest.mark.parametrize("name", ["dsh-remote", "dsh-subagent-", "dsh-subagent-A", "../x", ""])
def test_a_name_that_is_none_of_a_backend_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no name of a backend"):
        add(name, ROOT, "uv")


def test_a_package_that_is_there_is_neither_added_again_nor_removed_once_committed() -> None:
    with pytest.raises(ValueError, match="packages/dsh-subagent-spawn is there already"):
        add("dsh-subagent-spawn", ROOT, "uv")
    with pytest.raises(ValueError, match="is committed: take that back with git"):
        remove("dsh-subagent-spawn", ROOT, "uv")
    with pytest.raises(ValueError, match=f"there is no packages/{NAME}"):
        remove(NAME, ROOT, "uv")


def test_of_an_addition_that_fails_nothing_stays(tree: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        add(NAME, tree, shutil.which("false") or "false")
    assert git(tree, "status", "--short") == ""


@pytest.mark.parametrize("position", range(len(EDITS)))
def test_each_edit_is_taken_back_whole(position: int) -> None:
    edit, known = EDITS[position], names(NAME, ROOT)
    text = (ROOT / edit.path).read_text(encoding="utf-8")
    assert edit.take(edit.put(text, known), known) == text
    with pytest.raises(ValueError, match="it is there already"):
        edit.put(edit.put(text, known), known)


def sections() -> Mapping[str, str]:
    """The text below each heading of the page, as it is written, in the order of the page."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    lines, prose = text.splitlines(), prose_lines(text)
    below = {each.text: len(section(prose, each)) for each in headings(prose) if each.level == 2}
    starts = {each.text: each.number for each in headings(prose)}
    return {name: "\n".join(lines[starts[name] :][:count]) for name, count in below.items()}


def test_the_page_tells_the_steps_of_the_command_in_their_order() -> None:
    assert tuple(sections())[: len(STEPS)] == STEPS


def test_each_step_tells_of_every_path_it_writes() -> None:
    told = sections()
    for edit in EDITS:
        assert f"`{edit.path}`" in told[edit.step], edit
    assert f"`{TEMPLATE}`" in told[FILES]
    for source in (ROOT / TEMPLATE).rglob("*.tmpl"):
        path = source.relative_to(ROOT / TEMPLATE).as_posix().removesuffix(".tmpl")
        assert re.search(rf"(^|  ){re.escape(path.replace('PART', 'NAME'))}\b", told[FILES], re.M)
    for written in ("uv.lock", "scripts/generate"):
        assert f"`{written}`" in told[MADE]
