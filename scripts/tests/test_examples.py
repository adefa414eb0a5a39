"""The Python of the pages runs as it stands."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from website.examples import faults, programs

Plant = Callable[[Mapping[str, str]], Path]

ROOT: Final = Path(__file__).parents[2]
FOLLOWED: Final = ("docs/tutorial.md", "docs/how-to/")
"""Each of their blocks is a file that tests-integration/test_guides.py writes and runs."""
PROGRAMS: Final = {
    page: program for page, program in programs(ROOT).items() if not page.startswith(FOLLOWED)
}


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_examples_of_a_page_run_one_after_the_other(page: str, tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAMS[page]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr


def test_the_blocks_of_a_page_are_one_program_whose_lines_are_those_of_the_page(
    plant: Plant,
) -> None:
    page = "# T\n\n```python\na = 1\n```\n\n- in a list\n\n  ```python\n  b = a\n  ```\n"
    root = plant({"docs/page.md": page, "docs/none.md": "```text\nc\n```\n"})
    assert programs(root) == {"docs/page.md": "\n\n\na = 1\n\n\n\n\n\nb = a"}


def test_a_block_that_says_why_it_is_a_fragment_is_left_out(plant: Plant) -> None:
    page = "<!-- fragment: the rest is yours -->\n```python\n...\n```\n\n```python\na\n```\n"
    root = plant({"page.md": page})
    assert programs(root) == {"page.md": "\n\n\n\n\n\na"}
    assert list(faults(root)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```py\na\n```", "2: say python rather than py: it is run"),
        (
            "<!-- fragment -->\n```python\na\n```",
            "3: why it is a fragment: <!-- fragment: REASON -->",
        ),
        ("<!-- fragment: so -->\n\nText.", "1: no python block follows that could be a fragment"),
        (
            "<!-- fragment: so -->\n```text\na\n```",
            "1: no python block follows that could be a fragment",
        ),
    ],
)
def test_what_would_let_python_go_unrun_is_found(plant: Plant, text: str, fault: str) -> None:
    assert list(faults(plant({"docs/page.md": text}))) == [f"docs/page.md:{fault}"]
