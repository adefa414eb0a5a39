"""`python -m pages`, which `scripts/generate` runs: writes every generated page anew."""

import sys
from pathlib import Path
from typing import Final

from pages.guarantees import summary
from pages.registry import PAGES

ROOT: Final = Path(__file__).resolve().parents[2]


def main() -> int:
    """Write what is stale, say which files changed, and print the counts of the guarantees."""
    changed = [name for page in PAGES for name in page.write(ROOT)]
    print("\n".join(f"wrote {name}" for name in changed) or "every page was up to date")
    print(summary(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
