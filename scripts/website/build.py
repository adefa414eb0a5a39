"""Building the site: a run of Sphinx in a process of its own, where every warning is a failure."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from gates.plain import plain
from website.crawl import crawl

CONFIGURATION: Final = Path(__file__).parent
PLAIN: Final = "-Dhtml_theme=basic"
"""Half the work, and the same warnings: what a theme adds to a page is the same on each."""


def build(root: Path, site: Path, *options: str) -> list[str]:
    """Build the site of the tree at *root* in the folder *site*; return what is wrong with it."""
    with tempfile.TemporaryDirectory() as doctrees:
        command = [sys.executable, "-m", "sphinx", "--builder=html", *options]
        command += ["--quiet", "--jobs=auto", "--fail-on-warning", "--keep-going", "--fresh-env"]
        command += ["--conf-dir", str(CONFIGURATION), "--doctree-dir", doctrees]
        run = subprocess.run(
            [*command, str(root), str(site)],
            env=plain(PYTHONPATH=str(CONFIGURATION.parent)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if run.returncode == 0:
        return crawl(site.resolve())
    said = [line.replace(f"{root}/", "") for line in run.stdout.splitlines() if line.strip()]
    return said or [f"Sphinx ended with status {run.returncode}"]


def check(root: Path) -> list[str]:
    """Return what a build fails on, and keep nothing."""
    with tempfile.TemporaryDirectory() as folder:
        return build(root, Path(folder), PLAIN)
