"""What a README calls missing is missing, and what the source calls missing is in the README."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.claims import has_code
from gates.workspace import members
from verify_readme_limitations import CANONICAL_HEADING, check

Plant = Callable[[Mapping[str, str]], Path]

ONE: Final = "packages/dsh-one"
README: Final = f"{ONE}/README.md"
TREE: Final = {
    f"{ONE}/pyproject.toml": '[project]\nname = "dsh-one"\n',
    f"{ONE}/src/dsh/one/__init__.py": '"""One."""\n\nfrom ._a import go\n\n__all__ = ["go"]\n',
    f"{ONE}/src/dsh/one/_a.py": "CAPABILITIES = SubagentCapabilities(persona=True, depth=False)\n",
    "packages/dsh-empty/pyproject.toml": '[project]\nname = "dsh-empty"\n',
    "packages/dsh-empty/README.md": f"{CANONICAL_HEADING}\n\n- The package has no code yet.\n",
    "packages/dsh-empty/src/dsh/empty/__init__.py": '"""Empty."""\n',
}


def verdict(plant: Plant, bullet: str, intro: str = "") -> list[str]:
    return check(plant({**TREE, README: f"{intro}\n\n{CANONICAL_HEADING}\n\n- {bullet}\n"}))


@pytest.mark.guarantee("B-GATE-11")
@pytest.mark.parametrize(
    ("bullet", "name"),
    [
        ("`dsh.one` does not exist yet.", "dsh.one"),
        ("The `dsh-one` package is not implemented.", "dsh-one"),
        ("There is no `dsh.one` so far.", "dsh.one"),
        ("`dsh.one._a` is still missing.", "dsh.one._a"),
        ("No `go` yet.", "go"),
        ("`go(x)` is not there yet.", "go(x)"),
        ("`dsh.one.go` is\n  planned.", "dsh.one.go"),
        ("Deferred until `dsh.one` exists.", "dsh.one"),
        ("`persona` is not implemented.", "persona"),
    ],
)
def test_a_bullet_that_calls_an_existing_thing_missing_fails(
    plant: Plant, bullet: str, name: str
) -> None:
    """A limitation that calls a package, a name or a capability missing fails once it exists."""
    (failure,) = verdict(plant, bullet)
    assert failure.startswith(f"{README}: calls `{name}` missing, but it exists: ")


@pytest.mark.guarantee("B-GATE-11")
def test_a_bullet_that_calls_a_declared_capability_unsupported_fails(plant: Plant) -> None:
    """A limitation that calls a capability unsupported fails once the provider declares it."""
    (failure,) = verdict(plant, "`persona` is not supported.")
    assert "calls `persona` unsupported, but dsh.one declares it" in failure


@pytest.mark.guarantee("B-GATE-11")
@pytest.mark.parametrize(
    "bullet",
    [
        "`dsh.empty` does not exist yet.",
        "`dsh.elsewhere` is not implemented.",
        "`dsh.one` does not know `dsh.empty`.",
        "`go` is not implemented on Windows.",
        "There is no `go` for blocks.",
        "`depth` is not supported.",
        "`persona` is not supported with a seed.",
    ],
)
def test_a_true_or_qualified_limitation_is_left_alone(plant: Plant, bullet: str) -> None:
    """A limitation about what is really absent, or absent in part, passes."""
    assert verdict(plant, bullet) == []


@pytest.mark.guarantee("B-GATE-11")
@pytest.mark.parametrize("claim", ["Nothing is implemented yet.", "The package has no code yet."])
def test_a_package_with_code_may_not_call_itself_empty_anywhere(plant: Plant, claim: str) -> None:
    """A README that calls its own package empty fails once the package has code."""
    (failure,) = verdict(plant, "It is small.", intro=claim)
    assert failure.startswith(f"{README}: says ")


@pytest.mark.parametrize("marker", ["TODO", "FIXME", "XXX"])
def test_a_marker_in_the_source_that_no_bullet_names_fails(plant: Plant, marker: str) -> None:
    """Work the source defers is a limitation: its file is named in a bullet, or the gate fails."""
    plant({f"{ONE}/src/dsh/one/_b.py": f"x = 1\ny = 2  # {marker}: more\n"})
    (failure,) = verdict(plant, "It is small.")
    assert failure.startswith(f"{ONE}/src/dsh/one/_b.py:2: {marker} that no limitation mentions")
    assert verdict(plant, "Only two letters (`_b.py`).") == []


def test_a_package_of_one_docstring_has_no_code(plant: Plant) -> None:
    root = plant(TREE)
    assert {member.name: has_code(member) for member in members(root)} == {
        "dsh-empty": False,
        "dsh-one": True,
    }
