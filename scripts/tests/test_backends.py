"""READMEs of backends against the backends."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.backends import GATE, check, drift
from gates.registry import GATES

ROOT: Final = Path(__file__).parents[2]
OFFERS: Final = {"output_schema": True, "persona": False}
SETTINGS: Final = {"provider_name": '"x"', "command": "required"}
README: Final = """\
## Capabilities

| field | honoured |
|---|---|
| `output_schema` | yes |
| `persona` | no |

## Configuration

| setting | default | meaning |
|---|---|---|
| `provider_name` | "x" | its name |
| `command` | required | what it runs |
"""


def test_the_backends_of_this_workspace_are_what_their_readmes_say() -> None:
    assert check(ROOT) == []
    assert GATE in GATES


def test_a_readme_that_agrees_is_green() -> None:
    assert drift(README, OFFERS, SETTINGS) == []


@pytest.mark.parametrize(
    ("readme", "offers", "settings", "failure"),
    [
        (
            README.replace("`persona` | no", "`persona` | yes"),
            OFFERS,
            SETTINGS,
            "## Capabilities says yes of `persona`; it is no",
        ),
        (README, {**OFFERS, "depth_limit": True}, SETTINGS, "## Capabilities lacks `depth_limit`"),
        (README, {"output_schema": True}, SETTINGS, "## Capabilities names `persona`, which is"),
        (
            README,
            OFFERS,
            {**SETTINGS, "provider_name": '"y"'},
            '## Configuration says "x" of `provider_name`; it is "y"',
        ),
        (README, OFFERS, {**SETTINGS, "retries": "1"}, "## Configuration lacks `retries` (1)"),
        ("", OFFERS, {}, "## Capabilities lacks `output_schema` (yes)"),
    ],
)
def test_each_way_to_drift_is_named(
    readme: str, offers: Mapping[str, bool], settings: Mapping[str, str], failure: str
) -> None:
    assert any(each.startswith(failure) for each in drift(readme, offers, settings))
