"""Tries a release whole, and writes the version of one: `scripts/release --dry-run`.

Builds every sdist and from it the wheel, then holds of them what a user would find out: they say of
themselves what is true, each installs alone, all install together, the examples run against what is
installed, the changelog tells of each. Then it prints what would be published, and in which order.
Nothing here uploads; `--out FOLDER` leaves the files for whoever does.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from gates import versions
from gates.gate import Gate
from gates.runner import run as run_gates
from gates.workspace import Member, members
from shipping import changelog, metadata
from shipping.order import published
from shipping.workshop import TOGETHER, Workshop, find_uv, loads, run

ROOT: Final = Path(__file__).resolve().parents[1]
EXAMPLES: Final = "examples"
COMMAND: Final = ("dsh", "demo")
NO_INDEX: Final = (
    "nothing here publishes: this repository has no index to upload to. Say --dry-run to try all of"
    " it, with --out FOLDER to keep the files, which `uv publish` or twine uploads where you say"
)


def checks(workshop: Workshop) -> list[Gate]:
    """Return everything that is held of what *workshop* has built, in the order it is told."""
    workspace = workshop.workspace
    chosen = published(workspace)
    examples = sorted((ROOT / EXAMPLES).glob("*.py"))
    return [
        versions.GATE,
        _check("changelog", partial(_changelog, [*workspace], [member.name for member in chosen])),
        *(
            _check(f"{name} says what is true", partial(_itself, workshop, name))
            for name in workspace
        ),
        *(
            _check(f"{member.name} alone", partial(_told, workshop.verify, member))
            for member in workspace.values()
        ),
        _check("all of them together", partial(_together, workshop, chosen)),
        *(
            _check(f"{EXAMPLES}/{each.name}", partial(_example, workshop, each))
            for each in examples
        ),
    ]


def _check(name: str, check: Callable[[], list[str]]) -> Gate:
    return Gate(name=name, check=lambda _root: check())


def _told(check: Callable[[Member], str], member: Member) -> list[str]:
    problem = check(member)
    return [problem] if problem else []


def _changelog(names: Sequence[str], chosen: Sequence[str]) -> list[str]:
    text = (ROOT / changelog.CHANGELOG).read_text(encoding="utf-8")
    return [*changelog.malformed(text, names), *changelog.silent(text, chosen)]


def _itself(workshop: Workshop, name: str) -> list[str]:
    member = workshop.workspace[name]
    return [what for each in workshop.artefacts(name) for what in metadata.faults(each, member)]


def _together(workshop: Workshop, chosen: Sequence[Member]) -> list[str]:
    python = workshop.python(TOGETHER)
    problems = [loads(python, member) for member in chosen]
    command, *arguments = COMMAND
    problems.append(run(python.with_name(command), *arguments))
    return [each for each in problems if each]


def _example(workshop: Workshop, example: Path) -> list[str]:
    problem = run(workshop.python(TOGETHER), "-I", "-W", "error", example)
    return [problem] if problem else []


def rehearse(workshop: Workshop, out: Path | None) -> int:
    """Build, check, and print what would be published; 0 when all of it holds."""
    try:
        chosen = published(workshop.workspace)
        workshop.prepare()
    except ValueError as error:
        print(f"FAIL {error}")
        return 1
    except subprocess.CalledProcessError as error:
        print(f"FAIL they do not build\n{error.stdout}")
        return 1
    problem = workshop.install(TOGETHER, [member.name for member in chosen])
    if problem:
        print(f"FAIL they do not install together\n{problem}")
        return 1
    print(f"built {len(workshop.workspace)} packages, each wheel from its sdist", flush=True)
    if not run_gates(checks(workshop), ROOT, out=sys.stdout):
        print("nothing would be published: see FAIL above")
        return 1
    _announce(workshop.workspace, chosen)
    for artefact in (each for member in chosen for each in workshop.artefacts(member.name)):
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            shutil.copy(artefact, out)
    return 0


def _announce(workspace: Mapping[str, Member], chosen: Sequence[Member]) -> None:
    kept = sorted(workspace.keys() - {member.name for member in chosen})
    print("would be published, in this order:")
    for member in chosen:
        print(f"  {member.name} {member.manifest['project']['version']}")
    print(f"would not: {', '.join(kept) or 'nothing is kept back'}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Try a release, or write the version of the next one; 0 when that went well."""
    parser = argparse.ArgumentParser(prog="scripts/release")
    parser.add_argument("--uv", default=find_uv(), help="the uv to use")
    parser.add_argument("--dry-run", action="store_true", help="try everything, publish nothing")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="keep what would be published")
    parser.add_argument("--set", metavar="VERSION", help="write that version into every manifest")
    options = parser.parse_args(arguments)
    if options.set is not None:
        try:
            changed = versions.write(ROOT, options.set)
        except ValueError as error:
            parser.error(str(error))
        print("\n".join(f"wrote {name}" for name in changed) or "every manifest says so already")
        print("now `uv lock`, and `scripts/generate`")
        return 0
    if not options.dry_run:
        parser.error(NO_INDEX)
    with tempfile.TemporaryDirectory() as folder:
        workspace = {member.name: member for member in members(ROOT)}
        workshop = Workshop(uv=options.uv, folder=Path(folder), workspace=workspace)
        return rehearse(workshop, options.out)


if __name__ == "__main__":
    sys.exit(main())
