"""The gate of the READMEs' limitations: the section, its bullets, the whitelist."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.markdown import prose_lines
from verify_readme_limitations import (
    CANONICAL_HEADING,
    MAX_WORDS,
    check,
    check_package,
    is_limitations_like,
    main,
)

Plant = Callable[[Mapping[str, str]], Path]

README: Final = "packages/dsh-one/README.md"
MANIFEST: Final = {"packages/dsh-one/pyproject.toml": '[project]\nname = "dsh-one"\n'}
GREEN: Final = f"# dsh-one\n\nWhat it is.\n\n{CANONICAL_HEADING}\n\n- It is small.\n"


def verdict(plant: Plant, readme: str) -> list[str]:
    return check(plant({**MANIFEST, README: readme}))


@pytest.mark.guarantee("B-GATE-01")
@pytest.mark.parametrize("heading", [CANONICAL_HEADING, CANONICAL_HEADING + "  \t"])
def test_one_canonical_heading_is_green(plant: Plant, heading: str) -> None:
    """A README passes with exactly one limitations heading, the canonical one."""
    assert verdict(plant, GREEN.replace(CANONICAL_HEADING, heading)) == []


@pytest.mark.guarantee("B-GATE-01")
def test_a_readme_without_the_heading_fails(plant: Plant) -> None:
    """A README without the canonical heading fails."""
    assert verdict(plant, "# dsh-one\n") == [f"{README}: has no heading {CANONICAL_HEADING!r}"]


@pytest.mark.guarantee("B-GATE-01")
def test_the_heading_may_stand_once_only(plant: Plant) -> None:
    """A second canonical heading fails, and its line is named."""
    (failure,) = verdict(plant, GREEN + f"\n{CANONICAL_HEADING}\n\n- Again.\n")
    assert failure.startswith(f"{README}:9: ")


@pytest.mark.guarantee("B-GATE-01", "B-GATE-03")
@pytest.mark.parametrize(
    "heading",
    [
        "### Known Limitations and Deferred Work",
        "# Limitations",
        "## known limitations and deferred work",
        "## Known Limitation",
        "##  Known Limitations and Deferred Work",
        "## Known Limitations and Deferred Work ##",
        "###### What is not here",
        "## Deferred",
        "## Non-goals",
    ],
)
def test_a_near_miss_fails_beside_the_canonical_heading_or_instead_of_it(
    plant: Plant, heading: str
) -> None:
    """Any heading that means the limitations but is not the canonical one fails, at every level."""
    (beside,) = verdict(plant, GREEN.replace("What it is.", f"{heading}\n\n- It is."))
    assert beside.startswith(f"{README}:3: {heading!r} competes with")
    instead = verdict(plant, GREEN.replace(CANONICAL_HEADING, heading))
    assert len(instead) == 2


@pytest.mark.guarantee("B-GATE-03")
@pytest.mark.parametrize("text", ["API", "Configuration", "Unlimited", "What is here", "Goals"])
def test_a_heading_about_something_else_does_not_compete(text: str) -> None:
    """Headings that only resemble a limitations heading are left alone."""
    assert not is_limitations_like(text)


@pytest.mark.guarantee("B-GATE-02")
@pytest.mark.parametrize("body", ["", "Nothing.\n", "  - indented\n", "* starred\n", "-tight\n"])
def test_a_section_without_a_bullet_at_the_margin_fails(plant: Plant, body: str) -> None:
    """The section needs a line that begins with a dash and a blank; other bullets do not count."""
    (failure,) = verdict(plant, GREEN.replace("- It is small.\n", body))
    assert failure.startswith(f"{README}:5: no bullet")


@pytest.mark.guarantee("B-GATE-02")
def test_a_bullet_after_the_next_heading_does_not_count(plant: Plant) -> None:
    """A bullet below the following heading belongs to that heading."""
    failures = verdict(plant, GREEN.replace("- It", "## More\n\n- It"))
    assert failures[0].startswith(f"{README}:5: no bullet")
    assert failures[1].startswith(f"{README}:7: '## More' follows the limitations")


@pytest.mark.guarantee("B-GATE-04")
def test_a_whitelisted_package_may_not_have_the_section(plant: Plant) -> None:
    """A package excused from the section fails when it has one, and passes without."""
    whitelist = {"dsh-one": "it only re-exports"}
    root = plant({**MANIFEST, README: GREEN})
    assert check(root, whitelist=whitelist) == [
        f"{README}:5: has {CANONICAL_HEADING!r}, but is whitelisted"
    ]
    plant({README: "# dsh-one\n"})
    assert check(root, whitelist=whitelist) == []


@pytest.mark.guarantee("B-GATE-05")
def test_a_whitelist_entry_names_a_package_and_a_reason(plant: Plant) -> None:
    """An excuse for a package that is not there, or without a reason, fails by name."""
    root = plant({**MANIFEST, README: "# dsh-one\n"})
    failures = check(root, whitelist={"dsh-gone": "it was small", "dsh-one": "  "})
    assert failures == [
        "NO_LIMITATIONS: 'dsh-gone' is no package; there are dsh-one",
        "NO_LIMITATIONS: 'dsh-one' has no reason",
    ]


@pytest.mark.guarantee("B-GATE-06")
def test_a_package_with_a_manifest_only_fails(plant: Plant) -> None:
    """Every manifest is a package to check, so one without a README is reported."""
    root = plant(MANIFEST)
    assert check(root) == [f"{README}: missing"]
    assert check_package(root / "packages" / "dsh-one") == [f"{README}: missing"]


FENCES: Final = {
    "backticks": "```\n{}\n```",
    "tildes": "~~~\n{}\n~~~",
    "indented by three": "   ````md\n{}\n   ````",
    "longer close": "```\n{}\n`````",
    "a shorter fence inside": "````\n```\n{}\n```\n````",
    "backticks do not close tildes": "~~~\n```\n{}\n~~~",
    "never closed": "```\n{}",
}


@pytest.mark.guarantee("B-GATE-07")
@pytest.mark.parametrize("fence", FENCES.values(), ids=FENCES.keys())
def test_what_stands_in_a_fence_is_not_prose(fence: str) -> None:
    """Headings inside fenced code are ignored, however the fence is written."""
    text = fence.format(CANONICAL_HEADING)
    assert prose_lines(text) == [""] * len(text.splitlines())


@pytest.mark.guarantee("B-GATE-07")
@pytest.mark.parametrize("text", ["    ```\n## A", "``\n## A", "```a`b\n## A", "```\n```\n## A"])
def test_what_is_no_open_fence_hides_nothing(text: str) -> None:
    """Too short or too deep a fence, or a closed one, leaves the next heading in the prose."""
    assert prose_lines(text)[-1] == "## A"


@pytest.mark.guarantee("B-GATE-08")
@pytest.mark.parametrize("line", ["   # Limitations", "###### Limitations", "#\tLimitations"])
def test_a_heading_has_one_to_six_marks_and_a_blank(plant: Plant, line: str) -> None:
    """Up to three blanks, one to six marks and a blank make a heading."""
    (failure,) = verdict(plant, GREEN.replace("What it is.", line))
    assert "competes" in failure


@pytest.mark.guarantee("B-GATE-08")
@pytest.mark.parametrize("line", ["    # Limitations", "####### Limitations", "#Limitations"])
def test_any_other_line_with_marks_is_no_heading(plant: Plant, line: str) -> None:
    """Four blanks, seven marks or no blank after them make no heading."""
    assert verdict(plant, GREEN.replace("What it is.", line)) == []


@pytest.mark.guarantee("B-GATE-09")
def test_every_failure_of_every_package_is_reported_and_nothing_is_written(plant: Plant) -> None:
    """The gate lists all failures of all packages and leaves the READMEs as they are."""
    two = "packages/dsh-two"
    root = plant(
        {
            **MANIFEST,
            README: "# dsh-one\n\n## Limitations\n",
            f"{two}/pyproject.toml": '[project]\nname = "dsh-two"\n',
            f"{two}/README.md": "# dsh-two\n",
        }
    )
    assert len(check(root)) == 3
    assert (root / README).read_text(encoding="utf-8") == "# dsh-one\n\n## Limitations\n"


@pytest.mark.guarantee("B-GATE-09")
def test_the_gate_runs_alone_and_counts_what_holds(capsys: pytest.CaptureFixture[str]) -> None:
    """On its own the gate says how many READMEs hold and exits with status 0."""
    assert main() == 0
    assert capsys.readouterr().out.endswith(" READMEs state their limitations\n")


@pytest.mark.guarantee("B-GATE-11")
def test_a_bullet_that_explains_at_length_fails(plant: Plant) -> None:
    """A limitation is condensed: a bullet above the limit of words fails, with its count."""
    assert verdict(plant, GREEN.replace("small", " ".join(["very"] * (MAX_WORDS - 3)))) == []
    (failure,) = verdict(plant, GREEN.replace("small", " ".join(["very"] * MAX_WORDS)))
    assert f"a bullet of {MAX_WORDS + 2} words, {MAX_WORDS} are the limit" in failure
