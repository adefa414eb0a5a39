"""The Python of the packages' READMEs runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gates.workspace import members

ROOT: Final = Path(__file__).parents[2]
BLOCK: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES: Final = {
    member.name: blocks
    for member in members(ROOT)
    if (blocks := BLOCK.findall((member.path / "README.md").read_text(encoding="utf-8")))
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_readme_run_one_after_the_other(name: str, tmp_path: Path) -> None:
    program = "\n".join(EXAMPLES[name])
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
