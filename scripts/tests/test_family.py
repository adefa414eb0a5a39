"""The family's table, and the rule for READMEs that stands beside it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.family import TABLE, check
from gates.registry import GATES
from verify_readme_limitations import CANONICAL_HEADING, GATE

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]

ONE: Final = "| [dsh-one](dsh-one/README.md) | a part | nothing |"
MOCK: Final = "| [dsh-mock](dsh-mock/README.md) | a stand-in | the service |"
GREEN: Final = f"## Product packages\n\n{ONE}\n\n## Test support\n\n{MOCK}\n"
TREE: Final = {
    TABLE: GREEN,
    "packages/dsh-one/pyproject.toml": '[project]\nname = "dsh-one"\n',
    "packages/dsh-mock/pyproject.toml": (
        '[project]\nname = "dsh-mock"\nclassifiers = ["Private :: Do Not Upload"]\n'
    ),
}


@pytest.mark.guarantee("B-GATE-16")
def test_a_table_with_every_member_is_green(plant: Plant) -> None:
    """The family's table passes when each member has its row, test support apart."""
    assert check(plant(TREE)) == []


@pytest.mark.guarantee("B-GATE-16")
@pytest.mark.parametrize(
    ("table", "failure"),
    [
        (GREEN.replace(ONE, ""), "dsh-one has 0 rows; it needs one, below 'Product packages'"),
        (GREEN.replace(ONE, f"{ONE}\n{ONE}"), "dsh-one has 2 rows; it needs one"),
        (GREEN.replace(" a part ", " "), "dsh-one has no role, or does not say"),
        (GREEN.replace("| nothing |", "|  |"), "dsh-one has no role, or does not say"),
        (GREEN.replace(ONE, ONE + "\n" + ONE.replace("one", "gone")), "dsh-gone has a row and is"),
        (
            GREEN.replace(MOCK, "").replace(ONE, f"{ONE}\n{MOCK}"),
            "dsh-mock stands below 'Product packages'; it belongs below 'Test support'",
        ),
    ],
)
def test_a_member_without_its_row_is_named(plant: Plant, table: str, failure: str) -> None:
    """A member that is missing, listed twice, without a role or misplaced fails by name."""
    failures = check(plant({**TREE, TABLE: table}))
    assert any(each.startswith(f"{TABLE}: {failure}") for each in failures)


def test_a_family_without_a_table_fails(plant: Plant) -> None:
    (plant(TREE) / TABLE).unlink()
    assert check(plant({})) == [f"{TABLE}: missing"]


@pytest.mark.guarantee("B-GATE-10")
@pytest.mark.parametrize("guide", [TABLE, "docs/adding-a-package.md"])
def test_the_rule_for_limitations_stands_where_authors_look(guide: str) -> None:
    """The packages' guide and the guide to adding one both state the required section."""
    assert CANONICAL_HEADING in (ROOT / guide).read_text(encoding="utf-8")


@pytest.mark.guarantee("B-GATE-10")
def test_the_gate_of_the_limitations_runs_with_the_others() -> None:
    """The gate of the READMEs is one of those that every full check runs."""
    assert GATE in GATES
