"""The form of the decisions and their index."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.decisions import check
from pages.decisions import PAGE

Plant = Callable[[Mapping[str, str]], Path]

RECORD: Final = "docs/decisions/0007-one-way.md"
TEXT: Final = """\
# 7. One way

Status: implemented

## Problem

Two ways.

## Decision

One.

## Alternatives considered

- Two.

## Consequences

Fewer ways.
"""


def verdict(plant: Plant, text: str, path: str = RECORD) -> list[str]:
    """What the gate says of one record whose index is up to date."""
    root = plant({path: text})
    PAGE.write(root)
    return [failure.removeprefix(f"{path}: ") for failure in check(root)]


@pytest.mark.guarantee("B-GATE-12")
def test_a_record_in_the_one_form_is_green(plant: Plant) -> None:
    """A record with title, status and the four sections in their order passes."""
    assert verdict(plant, TEXT) == []


@pytest.mark.guarantee("B-GATE-12")
@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("# 7. One way", "# One way", "line 1 is not '# N. Title'"),
        ("# 7. ", "# 8. ", "is number 8 in its title"),
        ("Status: implemented", "Status: done", "line 3 is not 'Status: ' and one of "),
        ("Status: implemented", "**Status**: implemented", "line 3 is not 'Status: ' and one of "),
        ("implemented", "rejected", "is rejected without a reason"),
        ("implemented", "superseded", "is superseded without a reason"),
        ("## Consequences", "### Consequences", "has no section 'Consequences'"),
        ("## Alternatives considered", "## Options", "has no section 'Alternatives considered'"),
        ("## Problem\n", "## Context\n\nOld.\n\n## Problem\n", "begins with 'Context'"),
        ("## Consequences", "## Plan\n\nLater.\n\n## Consequences", "still has 'Plan'"),
        ("\nFewer ways.\n", "", "section 'Consequences' is empty"),
    ],
)
def test_a_record_that_departs_from_the_form_fails(
    plant: Plant, old: str, new: str, failure: str
) -> None:
    """A missing, empty, leftover or misplaced part of a record fails and is named."""
    assert old in TEXT
    assert verdict(plant, TEXT.replace(old, new, 1))[0].startswith(failure)


@pytest.mark.guarantee("B-GATE-12")
def test_the_sections_have_an_order(plant: Plant) -> None:
    """Sections in another order than the agreed one fail."""
    swapped = TEXT.replace("## Decision", "## X").replace("## Consequences", "## Decision")
    (failure,) = verdict(plant, swapped.replace("## X", "## Consequences"))
    assert failure.startswith("has its sections as Problem, Consequences, Alternatives considered")


@pytest.mark.guarantee("B-GATE-12")
def test_a_rejected_record_with_a_reason_and_a_proposal_are_green(plant: Plant) -> None:
    """A rejection that says why passes, and so does a proposal without consequences."""
    assert verdict(plant, TEXT.replace("implemented", "rejected: nobody needs it")) == []
    proposal = TEXT.replace("implemented", "proposed").replace("## Decision", "## Proposal")
    assert verdict(plant, proposal.partition("## Consequences")[0]) == []


def test_a_file_named_otherwise_fails(plant: Plant) -> None:
    (failure,) = verdict(plant, TEXT, "docs/decisions/7-One_way.md")
    assert failure.startswith("is not named NNNN-")


def test_a_number_is_given_once(plant: Plant) -> None:
    plant({"docs/decisions/0007-another.md": TEXT})
    (failure,) = verdict(plant, TEXT)
    assert failure == "number 7 is taken by 0007-another.md"


@pytest.mark.guarantee("B-GATE-13")
def test_an_index_that_is_not_as_it_would_be_generated_fails(plant: Plant) -> None:
    """The index of the decisions is generated, and one that is missing or edited fails."""
    root = plant({RECORD: TEXT})
    stale = ["docs/decisions/README.md: stale; run scripts/generate"]
    assert check(root) == stale
    PAGE.write(root)
    assert check(root) == []
    plant({RECORD: TEXT.replace("One way", "The other way")})
    assert check(root) == stale


@pytest.mark.guarantee("B-GATE-13")
def test_a_row_of_the_index_in_another_file_fails(plant: Plant) -> None:
    """A second list of decisions, outside the index, fails; a link in a sentence does not."""
    link = "[7](decisions/0007-one-way.md)"
    plant({"docs/why.md": f"Because of {link}.\n\n| {link} | One way |\n"})
    (failure,) = verdict(plant, TEXT)
    assert failure.startswith("docs/why.md:3: lists a decision")
