"""Links and paths of the documentation."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.links import check

Plant = Callable[[Mapping[str, str]], Path]

TREE: Final = {"docs/other.md": "# A heading, `so` it is\n", "scripts/check": "#!/bin/sh\n"}


@pytest.mark.guarantee("B-GATE-14")
@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("[x](gone.md)", "links to gone.md, which is not there"),
        ("[x](other.md#nowhere)", "links to a heading #nowhere that other.md does not have"),
        ("[x](#here)", "links to a heading #here that page.md does not have"),
        ("run `scripts/chekc`", "names `scripts/chekc`, which is not there"),
    ],
)
def test_a_link_or_path_that_leads_nowhere_is_found(plant: Plant, text: str, failure: str) -> None:
    """A relative link, an anchor or a path of the repository in the documentation has to exist."""
    assert check(plant({**TREE, "docs/page.md": f"one\n{text}\n"})) == [
        f"docs/page.md:2: {failure}"
    ]


@pytest.mark.guarantee("B-GATE-14")
@pytest.mark.parametrize(
    "text",
    [
        "[x](other.md)",
        "[x](../scripts/check) and [y](other.md#a-heading-so-it-is)",
        "[x](https://example.org/gone)",
        "`scripts/check layers` and `scripts/NAME ...`",
        "`[x](gone.md)`",
        "```\n[x](gone.md)\n```",
    ],
)
def test_what_leads_somewhere_or_is_no_link_is_green(plant: Plant, text: str) -> None:
    """Links that resolve, addresses elsewhere and code are left alone."""
    assert check(plant({**TREE, "docs/page.md": text})) == []
