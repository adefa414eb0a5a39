"""What a built distribution says of itself, against the manifest and the files it is made from."""

import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from packaging.metadata import Metadata
from packaging.specifiers import SpecifierSet

from gates.workspace import Member

HOSTS: Final[frozenset[str]] = frozenset()
"""The beginnings of addresses that are ours; there is none yet, so metadata names none."""
EXPECTED: Final = (
    "Development Status :: ",
    "Programming Language :: Python :: 3",
    "Typing :: Typed",
)
"""Each distribution has a classifier that begins so."""

COPIED: Final = ("pyproject.toml", "README.md", "LICENSE")
GENERATED: Final = ("PKG-INFO", ".gitignore")
"""What hatchling adds to an sdist."""


def faults(artefact: Path, member: Member) -> list[str]:
    """Return what is wrong with a wheel or an sdist of *member*, as `file: what`."""
    files = contents(artefact)
    wheel = artefact.suffix == ".whl"
    name = "METADATA" if wheel else "PKG-INFO"
    found = [path for path in files if PurePosixPath(path).name == name and _outermost(path)]
    if len(found) != 1:
        return [f"{artefact.name}: has {len(found)} files {name}, and needs one"]
    try:
        metadata = Metadata.from_email(files[found[0]], validate=True)
    except ExceptionGroup as group:
        return [f"{artefact.name}: {each}" for each in group.exceptions]
    what = [*_metadata(metadata, member), *_licence(files, metadata, member)]
    what += _wheel(files, member) if wheel else _sdist(files, member)
    return [f"{artefact.name}: {each}" for each in what]


def contents(artefact: Path) -> Mapping[str, bytes]:
    """Return the files of a wheel or an sdist by their path in it."""
    if artefact.suffix == ".whl":
        with zipfile.ZipFile(artefact) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(artefact) as sdist:
        opened = ((each.name, sdist.extractfile(each)) for each in sdist.getmembers())
        return {name: file.read() for name, file in opened if file is not None}


def _outermost(path: str) -> bool:
    return path.count("/") == 1


def _metadata(metadata: Metadata, member: Member) -> Iterator[str]:
    project = member.manifest["project"]
    readme = (member.path / "README.md").read_text(encoding="utf-8")
    pairs = (
        ("name", metadata.name, member.name),
        ("version", str(metadata.version), project.get("version")),
        ("summary", metadata.summary, project.get("description")),
        ("Python", metadata.requires_python, SpecifierSet(project.get("requires-python", ""))),
        ("licence", metadata.license_expression, project.get("license")),
        ("content type", metadata.description_content_type, "text/markdown"),
        ("classifiers", sorted(metadata.classifiers or []), sorted(project.get("classifiers", []))),
    )
    for what, given, wanted in pairs:
        if not wanted or given != wanted:
            yield f"its {what} is {str(given)!r}, expected {str(wanted)!r}"
    if (metadata.description or "").strip() != readme.strip():
        yield "its description is not the README"
    for beginning in EXPECTED:
        if not any(each.startswith(beginning) for each in metadata.classifiers or []):
            yield f"has no classifier {beginning!r}"
    addresses = {**(metadata.project_urls or {}), "home page": metadata.home_page or ""}
    addresses["download"] = metadata.download_url or ""
    addresses["author"] = metadata.author_email or ""
    addresses["maintainer"] = metadata.maintainer_email or ""
    for label, address in addresses.items():
        if address and not address.startswith(tuple(HOSTS)):
            yield f"names {address!r} ({label}), and no such address is ours"


def _licence(files: Mapping[str, bytes], metadata: Metadata, member: Member) -> Iterator[str]:
    text = (member.path / "LICENSE").read_bytes()
    if "LICENSE" not in (metadata.license_files or []):
        yield "does not declare the file LICENSE"
    if text not in [each for path, each in files.items() if path.endswith("/LICENSE")]:
        yield "does not ship the LICENSE of the package"


def _wheel(files: Mapping[str, bytes], member: Member) -> Iterator[str]:
    portion = member.module.replace(".", "/") + "/"
    shipped = {path for path in files if ".dist-info/" not in path}
    source = member.path / "src"
    written = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    yield from (f"lacks src/{path}" for path in sorted(written - shipped))
    for path in sorted(shipped):
        if not path.startswith(portion):
            yield f"ships {path}, which is outside {member.module}"
        elif path not in written:
            yield f"ships {path}, which is not in src/"


def _sdist(files: Mapping[str, bytes], member: Member) -> Iterator[str]:
    folder = f"{member.name.replace('-', '_')}-{member.manifest['project'].get('version')}/"
    for needed in COPIED:
        if files.get(folder + needed) != (member.path / needed).read_bytes():
            yield f"has no {needed} like the package's"
    folders = (f"{folder}src/", f"{folder}tests/")
    single = {folder + each for each in (*COPIED, *GENERATED)}
    for path in files:
        if not path.startswith(folders) and path not in single:
            yield f"ships {path}"
