"""The documentation can be built, explains every public name, and shows no Python that is not run.

Running the Python is the part of the tests, `scripts/tests/test_examples.py`.
"""

from pathlib import Path
from typing import Final

from gates.gate import Gate
from website import examples
from website.build import check as site
from website.undocumented import undocumented


def check(root: Path) -> list[str]:
    """Return what `scripts/docs` would fail on."""
    return [*undocumented(root), *examples.faults(root), *site(root)]


GATE: Final = Gate(name="docs", check=check)
