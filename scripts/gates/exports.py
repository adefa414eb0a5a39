"""Nothing is written that nobody uses.

- A public name is used by something outside its package: another member, a test, an example, an
  entry point. A type that another public signature names is used through it.
- Everything else is what vulture finds: functions, attributes and variables nobody reads.

What is right all the same stands in `scripts/gates/unused.toml` with its reason, by module or file.
A package that is being built says so in its manifest (`[tool.dsh] unfinished`, what is missing) and
is not judged. An excuse of either sort that no longer excuses anything is a failure too.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from gates.dependencies import never_imported
from gates.gate import Gate
from gates.house import WRITTEN, is_test
from gates.workspace import PACKAGES, Member, members, read_toml
from pages.api import FOLDER, render

EXCUSES: Final = "scripts/gates/unused.toml"
FINDING: Final = re.compile(r"(?P<path>.+?):\d+: unused (?P<kind>\w+) '(?P<name>.+)' \(\d+%.*\)")
SEEN_BY_OTHERS: Final = ("__*__", "model_config")
"""Names that the language or a library reads."""
CALLED_BY_OTHERS: Final = ("@field_validator", "@model_validator", "@field_serializer", "@overload")


@final
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Unused:
    """One name nobody uses."""

    where: str
    """The module that exports it, or the file it is in."""
    name: str
    what: str


def check(root: Path) -> list[str]:
    """Return each unused name without an excuse, and each excuse without an unused name."""
    family = members(root)
    found = sorted({*_exports(root, family), *_dead(root)})
    excuses: Mapping[str, Mapping[str, str]] = (
        read_toml(root / EXCUSES) if (root / EXCUSES).is_file() else {}
    )
    excused = {(where, name): excuses[where][name] for where in excuses for name in excuses[where]}
    judged = [each for each in found if (each.where, each.name) not in excused]
    unfinished = {member.name: member for member in family if member.unfinished}
    owners = [_owner(each, family) for each in judged]
    idle = [
        name
        for name, member in unfinished.items()
        if name not in owners and not never_imported(member)
    ]
    needless = sorted(excused.keys() - {(each.where, each.name) for each in found})
    return [
        *(
            f"{each.where}: {each.what}; use it, drop it or excuse it in {EXCUSES}"
            for each, owner in zip(judged, owners, strict=True)
            if owner not in unfinished
        ),
        *(f"{EXCUSES}: {name} of {where} needs no excuse" for where, name in needless),
        *(
            f"{EXCUSES}: {name} of {where} gives no reason"
            for (where, name), reason in sorted(excused.items())
            if not reason.strip()
        ),
        *(f"{name}: nothing in it is unused, so take its `unfinished` away" for name in idle),
    ]


def unfinished(root: Path) -> str:
    """Return how many packages are not judged because they are being built."""
    names = [member.name for member in members(root) if member.unfinished]
    return f"not judged while unfinished: {', '.join(names)}" if names else "every package judged"


def _owner(unused: Unused, family: Sequence[Member]) -> str:
    for member in family:
        folder = f"{PACKAGES}/{member.path.name}/"
        if unused.where.startswith(folder) or f"{unused.where}.".startswith(f"{member.module}."):
            return member.name
    return ""


def _exports(root: Path, family: Sequence[Member]) -> Iterator[Unused]:
    """Yield each public name nothing outside its package mentions."""
    snapshots = render(root)
    used = {path: _mentioned(path) for folder in WRITTEN for path in (root / folder).rglob("*.py")}
    for member in family:
        inside = {*member.sources}
        outside = {each for path, names in used.items() if path not in inside for each in names}
        outside |= _entries(member)
        module = ""
        lines = snapshots.get(f"{FOLDER}/{member.name}.txt", "").splitlines()[1:]
        for position, line in enumerate(lines):
            module = line.strip("[]") if line.startswith("[") else module
            name = _defined(line)
            if name and name not in outside and not _needed(name, lines, position):
                what = f"{name} is public and nothing outside uses it"
                yield Unused(where=module, name=name, what=what)


def _defined(line: str) -> str:
    """Return the name a line of a snapshot defines, if it defines one."""
    found = re.match(r"(?:@[\w.]+(?:\(.*?\))? )*(?:async )?(?:def |class )?(\w+)", line)
    return found[1] if found and not line.startswith((" ", "[")) else ""


def _needed(name: str, lines: list[str], position: int) -> bool:
    """Whether a signature other than its own names *name*."""
    own = position + 1
    while own < len(lines) and lines[own].startswith(" "):
        own += 1
    return any(re.search(rf"\b{name}\b", line) for line in [*lines[:position], *lines[own:]])


def _mentioned(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.alias(name=name):
                names |= {*name.split(".")}
            case _:
                pass
    return names


def _entries(member: Member) -> set[str]:
    """Return the names the manifest's entry points load."""
    project = member.manifest["project"]
    groups = [project.get("scripts", {}), *project.get("entry-points", {}).values()]
    return {str(each).rpartition(":")[2] for group in groups for each in group.values()}


def _dead(root: Path) -> Iterator[Unused]:
    """Yield what vulture finds in what we ship and run; tests are read, not judged."""
    folders = [folder for folder in WRITTEN if (root / folder).is_dir()]
    run = subprocess.run(
        [
            Path(sys.executable).with_name("vulture"),
            *folders,
            f"--ignore-names={','.join(SEEN_BY_OTHERS)}",
            f"--ignore-decorators={','.join(CALLED_BY_OTHERS)}",
        ],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    for line in [*run.stdout.splitlines(), *run.stderr.splitlines()]:
        if found := FINDING.fullmatch(line):
            if not is_test(Path(found["path"])):
                what = f"{found['kind']} {found['name']} is unused"
                yield Unused(where=found["path"], name=found["name"], what=what)
        else:
            yield Unused(where="vulture", name=line, what=line)


GATE: Final = Gate(name="exports", check=check, note=unfinished)
