"""What a wheel or an sdist says of itself."""

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.workspace import Member, members
from shipping.metadata import faults

Plant = Callable[[Mapping[str, str]], Path]

CLASSIFIERS: Final = (
    "Development Status :: 3 - Alpha",
    "Programming Language :: Python :: 3.11",
    "Typing :: Typed",
)
MANIFEST: Final = f"""\
[project]
name = "dsh-one"
version = "0.1.0"
description = "One."
requires-python = ">=3.11"
license = "MIT"
classifiers = {list(CLASSIFIERS)}
"""
TREE: Final = {
    "packages/dsh-one/pyproject.toml": MANIFEST,
    "packages/dsh-one/README.md": "# dsh-one\n",
    "packages/dsh-one/LICENSE": "Do as you like.\n",
    "packages/dsh-one/src/dsh/one/__init__.py": "",
    "packages/dsh-one/src/dsh/one/py.typed": "",
}
METADATA: Final = "\n".join(
    [
        "Metadata-Version: 2.4",
        "Name: dsh-one",
        "Version: 0.1.0",
        "Summary: One.",
        "Author: Somebody",
        "License-Expression: MIT",
        "License-File: LICENSE",
        *(f"Classifier: {each}" for each in CLASSIFIERS),
        "Requires-Python: >=3.11",
        "Description-Content-Type: text/markdown",
        "",
        "# dsh-one\n",
    ]
)
INFO: Final = "dsh_one-0.1.0.dist-info"
WHEEL: Final = {
    "dsh/one/__init__.py": "",
    "dsh/one/py.typed": "",
    f"{INFO}/METADATA": METADATA,
    f"{INFO}/RECORD": "",
    f"{INFO}/licenses/LICENSE": "Do as you like.\n",
}
FOLDER: Final = "dsh_one-0.1.0"
SDIST: Final = {
    f"{FOLDER}/pyproject.toml": MANIFEST,
    f"{FOLDER}/README.md": "# dsh-one\n",
    f"{FOLDER}/LICENSE": "Do as you like.\n",
    f"{FOLDER}/PKG-INFO": METADATA,
    f"{FOLDER}/src/dsh/one/__init__.py": "",
    f"{FOLDER}/tests/test_one.py": "",
}


@pytest.fixture
def member(plant: Plant) -> Member:
    (member,) = members(plant(TREE))
    return member


def wheel(folder: Path, files: Mapping[str, str]) -> Path:
    path = folder / "dsh_one-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def sdist(folder: Path, files: Mapping[str, str]) -> Path:
    path = folder / "dsh_one-0.1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_a_wheel_and_an_sdist_that_say_what_the_manifest_says_are_green(
    member: Member, tmp_path: Path
) -> None:
    assert faults(wheel(tmp_path, WHEEL), member) == []
    assert faults(sdist(tmp_path, SDIST), member) == []


@pytest.mark.parametrize(
    ("old", "new", "failure"),
    [
        ("Name: dsh-one", "Name: dsh-two", "its name is 'dsh-two', expected 'dsh-one'"),
        ("Version: 0.1.0\nS", "Version: 0.2\nS", "its version is '0.2', expected '0.1.0'"),
        ("Summary: One.\n", "", "its summary is 'None', expected 'One.'"),
        ("Requires-Python: >=3.11\n", "", "its Python is 'None', expected '>=3.11'"),
        ("License-Expression: MIT\n", "", "its licence is 'None', expected 'MIT'"),
        ("License-File: LICENSE\n", "", "does not declare the file LICENSE"),
        ("text/markdown", "text/plain", "its content type is 'text/plain'"),
        ("# dsh-one", "# dsh", "its description is not the README"),
        ("Classifier: Typing :: Typed\n", "", "has no classifier 'Typing :: Typed'"),
        ("Author: S", "Author-Email: a@example.org\nAuthor: S", "names 'a@example.org' (author)"),
        ("Author: S", "Project-URL: Home, https://dsh.dev\nAuthor: S", "names 'https://dsh.dev'"),
        ("Metadata-Version: 2.4\n", "", "None is not a valid metadata version"),
        ("Version: 0.1.0\nS", "Version: soon\nS", "'soon' is invalid for 'version'"),
        ("Author: S", "Fancy: 1\nAuthor: S", "unrecognized field"),
    ],
)
def test_metadata_that_says_otherwise_is_named(
    member: Member, tmp_path: Path, old: str, new: str, failure: str
) -> None:
    assert old in METADATA
    made = wheel(tmp_path, {**WHEEL, f"{INFO}/METADATA": METADATA.replace(old, new)})
    found = faults(made, member)
    assert all(each.startswith("dsh_one-0.1.0-py3-none-any.whl: ") for each in found)
    assert [each for each in found if failure in each], found


@pytest.mark.parametrize(
    ("name", "text", "failure"),
    [
        ("dsh/__init__.py", "", "ships dsh/__init__.py, which is outside dsh.one"),
        ("tests/test_one.py", "", "ships tests/test_one.py, which is outside dsh.one"),
        ("dsh/one/_extra.py", "", "ships dsh/one/_extra.py, which is not in src/"),
        ("dsh/one/py.typed", None, "lacks src/dsh/one/py.typed"),
        (f"{INFO}/licenses/LICENSE", None, "does not ship the LICENSE of the package"),
        (f"{INFO}/licenses/LICENSE", "Don't.\n", "does not ship the LICENSE of the package"),
        (f"{INFO}/METADATA", None, "has 0 files METADATA, and needs one"),
    ],
)
def test_a_wheel_with_other_files_than_the_source_is_named(
    member: Member, tmp_path: Path, name: str, text: str | None, failure: str
) -> None:
    files = {key: value for key, value in WHEEL.items() if key != name}
    made = wheel(tmp_path, files if text is None else {**files, name: text})
    assert faults(made, member) == [f"{made.name}: {failure}"]


@pytest.mark.parametrize(
    ("name", "text", "failure"),
    [
        (f"{FOLDER}/pyproject.toml", None, "has no pyproject.toml like the package's"),
        (f"{FOLDER}/README.md", "# dsh-two\n", "has no README.md like the package's"),
        (f"{FOLDER}/notes.txt", "", "ships dsh_one-0.1.0/notes.txt"),
        ("stray", "", "ships stray"),
    ],
)
def test_an_sdist_with_other_files_than_the_package_is_named(
    member: Member, tmp_path: Path, name: str, text: str | None, failure: str
) -> None:
    files = {key: value for key, value in SDIST.items() if key != name}
    made = sdist(tmp_path, files if text is None else {**files, name: text})
    assert faults(made, member) == [f"{made.name}: {failure}"]
