"""Every generated page says what the tree says: the packages, the configuration, the errors.

The public names are a gate of their own, `api`, since a difference there is a promise broken or
made and not a page forgotten; so is `guarantees`.
"""

from pathlib import Path
from typing import Final

from gates.gate import Gate
from pages import api, configuration, errors, packages, picture


def check(root: Path) -> list[str]:
    """Return what is stale, and what a page could not say for certain."""
    pages = (packages.PAGE, picture.PAGE, configuration.PAGE, errors.PAGE)
    return [
        *packages.faults(root),
        *configuration.faults(root),
        *(line for page in pages for line in page.stale(root)),
    ]


GATE: Final = Gate(name="pages", check=check)
API: Final = Gate(name="api", check=api.PAGE.stale)
