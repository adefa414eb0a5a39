"""Adds a backend to the workspace from `scripts/template`: `scripts/add-package NAME`.

Does what `docs/adding-a-package.md` says, step by step and in its order; `--remove NAME` undoes it
as long as the package is not committed. What is written works and keeps the seam's contract, so
that its author changes something green.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Final, final

from gates.versions import span, version
from gates.workspace import PACKAGES, members
from shipping.workshop import find_uv

ROOT: Final = Path(__file__).resolve().parents[1]
TEMPLATE: Final = "scripts/template"
FORM: Final = re.compile(r"dsh-subagent-[a-z][a-z0-9]*(-[a-z0-9]+)*")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One item in one file that lists the members."""

    step: str
    """The heading of `docs/adding-a-package.md` that tells of it."""
    path: str
    item: str
    """What is put in, with whatever ends it; a template, as the files are."""
    neighbours: str
    """A pattern of the items it is put among; its group `name`, if any, is what they are sorted by.

    The item goes before the first whose name is greater, or after the last.
    """

    def put(self, text: str, names: Mapping[str, str]) -> str:
        """Return *text* with the item in its place."""
        item = Template(self.item).substitute(names)
        found = list(re.finditer(self.neighbours, text, re.MULTILINE))
        if not found or item in text:
            raise ValueError(f"{self.path}: no place for {item.strip()!r}, or it is there already")
        later = [each.start() for each in found if each.groupdict().get("name", "") > names["name"]]
        place = min(later, default=found[-1].end())
        return text[:place] + item + text[place:]

    def take(self, text: str, names: Mapping[str, str]) -> str:
        """Return *text* without the item."""
        return text.replace(Template(self.item).substitute(names), "", 1)


FILES: Final = "The files"
LISTED: Final = "The root"
PLACED: Final = "Its place"
TOLD: Final = "Its row and its entry"
MADE: Final = "What follows from it"
STEPS: Final = (FILES, LISTED, PLACED, TOLD, MADE)

MANIFEST: Final = "pyproject.toml"
LAYERS: Final = ".importlinter"
TABLE: Final = "packages/README.md"
CHANGELOG: Final = "CHANGELOG.md"
EDITS: Final = (
    Edit(
        step=LISTED,
        path=MANIFEST,
        item='    "$name",\n',
        neighbours=r'^    "(?P<name>dsh-[a-z0-9-]+)",\n',
    ),
    Edit(
        step=LISTED,
        path=MANIFEST,
        item="$name = { workspace = true }\n",
        neighbours=r"^(?P<name>dsh-[a-z0-9-]+) = \{ workspace = true \}\n",
    ),
    Edit(
        step=LISTED,
        path=MANIFEST,
        item="$$MYPY_CONFIG_FILE_DIR/packages/$name/src:",
        neighbours=r"\$MYPY_CONFIG_FILE_DIR/packages/(?P<name>dsh-[a-z0-9-]+)/src:",
    ),
    Edit(
        step=LISTED,
        path=MANIFEST,
        item='    "packages/$name/src",\n',
        neighbours=r'^    "packages/(?P<name>dsh-[a-z0-9-]+)/src",\n',
    ),
    Edit(
        step=PLACED,
        path=LAYERS,
        item="$portion | ",
        neighbours=r"(?<= \| )(?=subagent_spawn\b)",
    ),
    Edit(
        step=TOLD,
        path=TABLE,
        item="| [$name]($name/README.md) | backend: answers with its prompt"
        " | `SubagentService`, as `$part` |\n",
        neighbours=r"^\| \[dsh-[a-z0-9-]+\]\([^)]*\) \| backend: .*\n",
    ),
    Edit(
        step=TOLD,
        path=CHANGELOG,
        item="- $name: `${Class}Provider` delegates to a coroutine function.\n",
        neighbours=r"^## Unreleased\n\n",
    ),
)


def names(package: str, root: Path) -> Mapping[str, str]:
    """Return what the templates call the parts of a package's name, and the family's version."""
    if not FORM.fullmatch(package):
        raise ValueError(f"{package!r} is no name of a backend, such as dsh-subagent-remote")
    part = package.removeprefix("dsh-subagent-")
    now = version(root)
    return {
        "name": package,
        "part": part,
        "portion": f"subagent_{part.replace('-', '_')}",
        "module": f"dsh.subagent_{part.replace('-', '_')}",
        "Class": part.title().replace("-", ""),
        "CODE": part.upper().replace("-", "_"),
        "version": now,
        "span": span(now),
    }


def add(package: str, root: Path, uv: str) -> None:
    """Write the package and everything that names it; if any of that fails, none of it stays."""
    known = names(package, root)
    folder = root / PACKAGES / package
    if folder.exists():
        raise ValueError(f"{PACKAGES}/{package} is there already")
    edited = _edited(root, lambda edit, text: edit.put(text, known))
    try:
        _copy_template(root, folder, known)
        _write(root, edited)
        _follow(root, uv)
    except (OSError, subprocess.CalledProcessError):
        _undo(package, root)
        raise


def remove(package: str, root: Path, uv: str) -> None:
    """Take away what `add` wrote; a package that git knows is not removed."""
    names(package, root)
    if not (root / PACKAGES / package).exists():
        raise ValueError(f"there is no {PACKAGES}/{package}")
    tracked = ["git", "ls-files", f"{PACKAGES}/{package}"]
    if _run(tracked, root):
        raise ValueError(f"{PACKAGES}/{package} is committed: take that back with git")
    _undo(package, root)
    _follow(root, uv)


def _undo(package: str, root: Path) -> None:
    known = names(package, root)
    shutil.rmtree(root / PACKAGES / package, ignore_errors=True)
    _write(root, _edited(root, lambda edit, text: edit.take(text, known)))


def _copy_template(root: Path, folder: Path, known: Mapping[str, str]) -> None:
    template = root / TEMPLATE
    for source in sorted(template.rglob("*.tmpl")):
        path = source.relative_to(template).as_posix().removesuffix(".tmpl")
        target = folder / path.replace("PART", known["portion"])
        target.parent.mkdir(parents=True, exist_ok=True)
        text = Template(source.read_text(encoding="utf-8")).substitute(known)
        target.write_text(text, encoding="utf-8")
    shutil.copy(root / "LICENSE", folder)
    ruff = str(Path(sys.executable).with_name("ruff"))
    _run([ruff, "format", "--quiet", f"{PACKAGES}/{folder.name}"], root)


def _edited(root: Path, change: Callable[[Edit, str], str]) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for edit in EDITS:
        text = texts.get(edit.path) or (root / edit.path).read_text(encoding="utf-8")
        texts[edit.path] = change(edit, text)
    return texts


def _write(root: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (root / path).write_text(text, encoding="utf-8")


def _follow(root: Path, uv: str) -> None:
    """Write the lock and the generated pages anew."""
    _run([uv, "lock", "--quiet"], root)
    _run([sys.executable, "-m", "pages"], root, PYTHONPATH=str(root / "scripts"))


def _run(command: Sequence[str], root: Path, **variables: str) -> str:
    finished = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return finished.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Add or remove a package of this workspace; 0 when that is done."""
    parser = argparse.ArgumentParser(prog="scripts/add-package")
    parser.add_argument("--uv", default=find_uv(), help="the uv to use")
    parser.add_argument("--remove", action="store_true", help="take an uncommitted one away again")
    parser.add_argument("name", help="dsh-subagent-NAME, what it will be called")
    options = parser.parse_args(arguments)
    try:
        (remove if options.remove else add)(options.name, ROOT, options.uv)
    except ValueError as error:
        known = ", ".join(member.name for member in members(ROOT))
        parser.error(f"{error}; the packages are {known}")
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(error.cmd)} failed, nothing was changed\n{error.stdout}", file=sys.stderr)
        return 1
    done = "removed" if options.remove else "added"
    print(f"{done} {PACKAGES}/{options.name}; `git status` shows what changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
