"""One member checked where only what it declares is installed: `python -m gates.alone NAME ENV`.

`scripts/dev` makes that environment. The structural gates look at the whole tree, which is quick;
the type checkers see the member's source and the environment, not the other members' sources.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from gates.gate import Gate
from gates.registry import GATES
from gates.runner import run
from gates.tools import BASEDPYRIGHT, MYPY, tool
from gates.workspace import Member, members, read_toml

ROOT: Final = Path(__file__).resolve().parents[2]


def mypy(member: Member, environment: Path) -> Gate:
    """Return mypy on *member*, as strict as everywhere, its imports resolved in *environment*."""
    codes: list[str] = _settings("mypy").get("enable_error_code", [])
    source = str(member.path / "src")
    arguments = ["mypy", "--config-file=", "--strict", "--explicit-package-bases", source]
    arguments += [f"--enable-error-code={code}" for code in codes]
    arguments += [f"--python-executable={environment / 'bin' / 'python'}"]
    return tool(MYPY.name, arguments, variables={"MYPYPATH": source})


def basedpyright(member: Member, environment: Path) -> Gate:
    """Return basedpyright on the sources and tests of *member*, likewise."""
    settings = _settings("basedpyright") | {
        "include": [
            str(member.path / name) for name in ("src", "tests") if (member.path / name).is_dir()
        ],
        "extraPaths": [str(member.path / "src")],
        "executionEnvironments": [],
    }
    project = environment / "pyrightconfig.json"
    project.write_text(json.dumps(settings), encoding="utf-8")
    python = environment / "bin" / "python"
    return tool(
        BASEDPYRIGHT.name, ["basedpyright", f"--project={project}", f"--pythonpath={python}"]
    )


def _settings(name: str) -> dict[str, Any]:
    settings: dict[str, Any] = read_toml(ROOT / "pyproject.toml")["tool"][name]
    return settings


def main() -> int:
    """Run every gate, the type checkers on the named member alone; 0 when each of them holds."""
    name, environment = sys.argv[1], Path(sys.argv[2])
    (member,) = [each for each in members(ROOT) if each.path.name == name]
    structural = [gate for gate in GATES if gate not in (MYPY, BASEDPYRIGHT)]
    types = [mypy(member, environment), basedpyright(member, environment)]
    return 0 if run([*structural, *types], ROOT, out=sys.stdout) else 1


if __name__ == "__main__":
    sys.exit(main())
