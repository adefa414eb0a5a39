"""The architecture, checked by import-linter on the members of one tree.

A run is a process of its own: import-linter finds the modules by importing `dsh`, so what `dsh` is
has to be settled before, and is the members of that tree and nothing else.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from importlinter import cli

from gates.gate import Gate
from gates.plain import plain
from gates.workspace import members

CONTRACTS: Final = (".importlinter", ".importlinter-cycles")

_CONTRACT: Final = re.compile(r"\n(?=[^\n]+\n-+\n)")  # import-linter underlines a contract's name


def check(root: Path) -> list[str]:
    """Return what import-linter says of each broken contract: its name, then the imports."""
    run = subprocess.run(
        [sys.executable, "-m", "gates.layers", str(root)],
        cwd=root,
        env=plain(PYTHONPATH=str(Path(__file__).parents[1])),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode == 0:
        return []
    _, _, broken = run.stdout.partition("Broken contracts\n----------------\n")
    if not broken:
        return [(run.stdout + run.stderr).strip()]
    return [_plain(part) for part in _CONTRACT.split("\n" + broken.strip()) if part.strip()]


def _plain(part: str) -> str:
    lines = part.strip().splitlines()
    return "\n".join([lines[0], *(line for line in lines[2:] if line.strip())])


def _lint(root: Path) -> int:
    sys.path[:] = [
        *(str(member.path / "src") for member in members(root)),
        *(entry for entry in sys.path if not Path(entry, "dsh").is_dir()),
    ]
    contracts = tuple(str(root / name) for name in CONTRACTS)
    return cli.lint_imports(config_filenames=contracts, no_cache=True, no_logo=True)


GATE: Final = Gate(name="layers", check=check)

if __name__ == "__main__":
    sys.exit(_lint(Path(sys.argv[1])))
