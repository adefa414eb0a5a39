"""Other people's checkers as gates, each with a fault it must find."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates import tools
from gates.gate import Gate

Plant = Callable[[Mapping[str, str]], Path]

MANIFEST: Final = """
[project]
name = "planted"
version = "0"
[tool.ruff.lint]
select = ["F"]
[tool.mypy]
strict = true
files = ["one.py"]
[tool.basedpyright]
typeCheckingMode = "strict"
include = ["one.py"]
"""
GREEN: Final = "def one() -> int:\n    return 1\n"
FAULTS: Final = [
    (tools.LINT, "import os\n" + GREEN, "one.py:1:8: F401"),
    (tools.FORMAT, "def one() -> int:\n    return  1\n", "-    return  1"),
    (tools.MYPY, "def one():\n    return 1\n", "one.py:1: error:"),
    (tools.BASEDPYRIGHT, "def one() -> int:\n    return ''\n", "one.py:2:12 - error:"),
]


@pytest.mark.usefixtures("coloured")
@pytest.mark.parametrize(
    ("gate", "code", "message"), FAULTS, ids=lambda case: getattr(case, "name", "")
)
def test_a_checker_finds_its_fault_and_passes_good_code(
    plant: Plant, gate: Gate, code: str, message: str
) -> None:
    (failure,) = gate.check(plant({"pyproject.toml": MANIFEST, "one.py": code}))
    assert message in failure
    assert gate.check(plant({"one.py": GREEN})) == []
