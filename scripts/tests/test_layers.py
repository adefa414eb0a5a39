"""The layers gate, on stub packages under the repository's own `.importlinter`."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.layers import CONTRACTS, check
from gates.workspace import members

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]
MODULE: Final = re.compile(r"^    dsh\.(\w+\.\w+)$", re.MULTILINE)


def stub(name: str) -> dict[str, str]:
    module = name.removeprefix("dsh-").replace("-", "_")
    return {
        f"packages/{name}/pyproject.toml": f'[project]\nname = "{name}"\n',
        f"packages/{name}/src/dsh/{module}/__init__.py": "",
    }


@pytest.fixture
def stubs(plant: Plant) -> Plant:
    """Every real member as an empty package, and the real contracts with the modules they name."""
    contracts = {name: (ROOT / name).read_text(encoding="utf-8") for name in CONTRACTS}
    plant(contracts)
    for member in members(ROOT):
        plant(stub(member.name))
    for module in set(MODULE.findall("".join(contracts.values()))):
        package = module.partition(".")[0].replace("_", "-")
        plant({f"packages/dsh-{package}/src/dsh/{module.replace('.', '/')}.py": ""})
    return plant


def test_packages_that_import_nothing_are_green(stubs: Plant) -> None:
    assert check(stubs({})) == []


BREACHES: Final = {
    "a backward import": ("subagent/__init__", "import dsh.tool_subagent", "point one way"),
    "a sibling": ("subagent_spawn/_provider", "import dsh.subagent_fork", "siblings do not know"),
    "the driver": ("tool_subagent/_tool", "import dsh.subagent_inprocess", "know their driver"),
    "the loop": ("subagent_spawn/_provider", "import dsh.agent_loop", "the reference loop"),
    "asyncio": ("agent/_agent", "import asyncio", "Only the bridge knows asyncio"),
    "anyio": ("cli/_main", "from anyio import Path", "Only the bridge knows asyncio"),
    "trio in a pure module": ("tools_jsonschema/_walk", "import trio", "never see trio"),
}


@pytest.mark.usefixtures("coloured")
@pytest.mark.parametrize(("module", "line", "contract"), BREACHES.values(), ids=BREACHES.keys())
def test_a_breach_of_the_architecture_is_found(
    stubs: Plant, module: str, line: str, contract: str
) -> None:
    folder = module.split("/")[0].replace("_", "-")
    failures = check(stubs({f"packages/dsh-{folder}/src/dsh/{module}.py": f"{line}\n"}))
    (failure,) = [each for each in failures if contract in each.splitlines()[0]]
    assert f"dsh.{module.replace('/', '.')}".removesuffix(".__init__") in failure


def test_a_cycle_inside_a_package_is_found(stubs: Plant) -> None:
    source = "packages/dsh-agent/src/dsh/agent"
    root = stubs(
        {
            f"{source}/_left.py": "from dsh.agent import _right\n",
            f"{source}/_right.py": "from dsh.agent import _left\n",
        }
    )
    (failure,) = check(root)
    assert failure.startswith("Modules have no cycles\n")


def test_modules_may_name_each_other_in_annotations(stubs: Plant) -> None:
    source = "packages/dsh-agent/src/dsh/agent"
    typing = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dsh.agent import _left\n"
    )
    root = stubs(
        {f"{source}/_left.py": "from dsh.agent import _right\n", f"{source}/_right.py": typing}
    )
    assert check(root) == []


def test_an_import_for_type_checkers_points_down_as_well(stubs: Plant) -> None:
    typing = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import dsh.subagent\n"
    (failure,) = check(stubs({"packages/dsh-agent/src/dsh/agent/_a.py": typing}))
    assert "dsh.agent._a -> dsh.subagent" in failure


def test_a_package_that_is_in_no_layer_is_found(stubs: Plant) -> None:
    (failure,) = check(stubs(stub("dsh-newcomer")))
    assert "newcomer" in failure


def test_the_bridge_may_import_asyncio(stubs: Plant) -> None:
    root = stubs({"packages/dsh-bridge-asyncio/src/dsh/bridge_asyncio/_x.py": "import asyncio\n"})
    assert check(root) == []


def test_a_pure_module_may_use_the_door_of_a_package_that_uses_trio(stubs: Plant) -> None:
    contracts = (ROOT / ".importlinter").read_text(encoding="utf-8")
    pure = "source_modules =\n    dsh.tools_jsonschema\n"
    root = stubs(
        {
            ".importlinter": contracts.replace(pure, pure + "    dsh.subagent._depth\n"),
            "packages/dsh-agent/src/dsh/agent/__init__.py": "import trio\n",
            "packages/dsh-subagent/src/dsh/subagent/_depth.py": "from dsh.agent import x\n",
        }
    )
    assert check(root) == []


def test_a_pure_module_may_not_reach_trio_through_its_own_package(stubs: Plant) -> None:
    source = "packages/dsh-tools-jsonschema/src/dsh/tools_jsonschema"
    root = stubs(
        {f"{source}/_walk.py": "from ._clock import now\n", f"{source}/_clock.py": "import trio\n"}
    )
    (failure,) = check(root)
    assert "dsh.tools_jsonschema._clock -> trio" in failure
