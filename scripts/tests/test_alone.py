"""The type checkers on one member, in an environment where an undeclared dependency is missing."""

import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gates import alone
from gates.gate import Gate
from gates.workspace import Member, members

Plant = Callable[[Mapping[str, str]], Path]


@pytest.mark.parametrize("checker", [alone.mypy, alone.basedpyright], ids=["mypy", "basedpyright"])
def test_an_import_that_is_not_declared_is_found(
    plant: Plant, checker: Callable[[Member, Path], Gate]
) -> None:
    source = "packages/dsh-one/src/dsh/one"
    root = plant(
        {
            "packages/dsh-one/pyproject.toml": '[project]\nname = "dsh-one"\n',
            f"{source}/__init__.py": "",
            f"{source}/_one.py": "import trio\nimport dsh.agent\nprint(trio, dsh.agent)\n",
            f"{source}/_two.py": "import sys\nprint(sys.path)\n",
        }
    )
    venv.create(root / "alone", with_pip=False)
    (member,) = members(root)
    (failure,) = checker(member, root / "alone").check(root)
    assert "_one.py:1:" in failure
    assert "_one.py:2:" in failure
    assert "_two.py" not in failure
