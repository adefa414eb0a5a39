"""`python -m gates [NAME …]`, which `scripts/check` runs: all gates, or the named ones."""

import argparse
import sys
from pathlib import Path
from typing import Final

from gates.registry import GATES
from gates.runner import run

ROOT: Final = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the gates named on the command line, or all of them; 0 when each of them holds."""
    known = {gate.name: gate for gate in GATES}
    parser = argparse.ArgumentParser(
        prog="scripts/check", description="Run the gates of this repository."
    )
    parser.add_argument(
        "name", nargs="*", help=f"which gates; all of them if none: {', '.join(known)}"
    )
    names: list[str] = parser.parse_args().name
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no gate named {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [known[name] for name in names] or list(GATES)
    return 0 if run(chosen, ROOT, out=sys.stdout) else 1


if __name__ == "__main__":
    sys.exit(main())
