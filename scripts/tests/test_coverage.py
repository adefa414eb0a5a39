"""What `[tool.coverage]` of the root counts, tried on a small tree."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = "packages/dsh-one/src/dsh/one"
FILES: Final = {
    "pyproject.toml": (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
    "parent.py": (
        "import runpy, subprocess, sys\n"
        "subprocess.run([sys.executable, '../child.py'], check=True, cwd='packages')\n"
        f"runpy.run_path('{FOLDER}/_used.py')\n"
    ),
    "child.py": f"import runpy\nrunpy.run_path('../{FOLDER}/_elsewhere.py')\n",
    "packages/dsh-one/tests/test_one.py": "one = 1\n",
    f"{FOLDER}/_used.py": (
        "one = 1\n"
        "if one:  # pragma: no branch - one is one\n"
        "    two = 2\n"
        "if not one:\n"
        "    three = 3  # pragma: no cover - one is one\n"
        "match one:\n"
        "    case 1:\n"
        "        four = 4\n"
        "    case _:\n"
        "        assert_never(one)\n"
    ),
    f"{FOLDER}/_elsewhere.py": "one = 1\n",
}


def cover(root: Path) -> subprocess.CompletedProcess[str]:
    """Run and report as `scripts/coverage` does."""
    env = {name: text for name, text in os.environ.items() if not name.startswith("COVERAGE_")}
    (root / ".coverage-data").mkdir()
    for words in ("run parent.py", "combine --quiet", "report"):
        finished = subprocess.run(
            [sys.executable, "-m", "coverage", *words.split()],
            cwd=root,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if words != "report":
            assert finished.returncode == 0, finished.stderr
    return finished


def test_a_tree_that_ran_here_and_in_a_child_is_covered(
    plant: Plant,
) -> None:
    report = cover(plant(FILES))
    assert report.returncode == 0, report.stdout
    assert "TOTAL" in report.stdout


@pytest.mark.parametrize(
    ("planted", "seen"),
    [
        ({f"{FOLDER}/_alone.py": "one = 1\n"}, "_alone.py"),
        ({f"{FOLDER}/_used.py": "one = 1\nif one:\n    two = 2\n"}, "2->exit"),
        ({f"{FOLDER}/_used.py": "one = 1\nif not one:\n    two = 2  # pragma: no cover\n"}, "3"),
    ],
    ids=["a module nobody imports", "a branch", "a pragma without a reason"],
)
def test_what_did_not_run_is_reported_and_fails(
    plant: Plant, planted: Mapping[str, str], seen: str
) -> None:
    report = cover(plant({**FILES, **planted}))
    assert report.returncode == 2
    (row,) = (line for line in report.stdout.splitlines() if line.startswith("packages/"))
    assert seen in row
    if seen == "_alone.py":
        assert row.split()[-2:] == ["0.00%", "1"]
