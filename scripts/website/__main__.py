"""`python -m website`, which `scripts/docs` runs: builds the site into `.site/`."""

import shutil
import sys
from pathlib import Path
from typing import Final

from website import examples
from website.build import build
from website.undocumented import undocumented

ROOT: Final = Path(__file__).resolve().parents[2]
SITE: Final = ROOT / ".site"


def main() -> int:
    """Build the site anew, and say where it is or what is wrong."""
    if SITE.exists():
        shutil.rmtree(SITE)
    failures = [*undocumented(ROOT), *examples.faults(ROOT), *build(ROOT, SITE)]
    if failures:
        print("\n".join(failures), file=sys.stderr)
        return 1
    print(f"{SITE / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
