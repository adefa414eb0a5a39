"""The first page says what is so: what the commands print, what the code prints, what is proven."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gates.registry import GATES
from gates.workspace import members
from pages.marked import marked_tests
from shipping.order import dependencies

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS: Final = re.findall(r"^```console\n\$ (.+)\n((?:.*\n)*?)```$", README, re.MULTILINE)
CLAIM: Final = re.compile(r"^\| (?P<claim>.+) \| \[(?P<name>test_\w+)\]\((?P<path>.+)\) \|$", re.M)
CUT: Final = "..."


def shown(command: str) -> list[str]:
    """The lines that the page shows below *command*, without the cuts."""
    (text,) = [text for given, text in BLOCKS if given == command]
    return [line for line in text.splitlines() if line != CUT]


def timeless(text: str) -> list[str]:
    return re.sub(r"\d+\.\d s\b", "0.0 s", text).splitlines()


def test_the_demo_prints_what_the_page_shows_of_it() -> None:
    command = Path(sys.executable).with_name("dsh")
    out, both = subprocess.PIPE, subprocess.STDOUT
    finished = subprocess.run([command, "demo"], stdout=out, stderr=both, text=True, check=True)
    printed = iter(timeless(finished.stdout))
    lines = timeless("\n".join(shown("scripts/dsh demo")))
    assert len(lines) > 5
    assert [line for line in lines if line not in printed] == []


def test_the_gates_come_in_the_order_that_the_page_shows() -> None:
    lines = shown("scripts/test")
    assert lines
    assert lines == [f"ok   {gate.name}" for gate in GATES[: len(lines)]]


def test_the_code_prints_what_its_comment_says() -> None:
    (code,) = re.findall(r"^```python\n((?:.*\n)*?)```$", README, re.MULTILINE)
    (said,) = re.findall(r"^ +print\(.*\)  # (.+)$", code, re.MULTILINE)
    assert len([line for line in code.splitlines() if line]) <= 25
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout == f"{said}\n"


PROVEN: Final = {(each.path, each.name): each for each in marked_tests(ROOT).tests}
CLAIMS: Final = [(each["path"], each["name"]) for each in CLAIM.finditer(README)]


@pytest.mark.parametrize(("path", "name"), CLAIMS)
def test_each_guarantee_names_a_test_that_proves_one(path: str, name: str) -> None:
    assert PROVEN[path, name].guarantees
    assert not PROVEN[path, name].void


def test_each_row_of_the_guarantees_has_its_test() -> None:
    table = README.partition("| guarantee | test |\n| --- | --- |\n")[2].partition("\n\n")[0]
    assert len(table.splitlines()) == len(CLAIMS) >= 10


def test_what_is_installed_from_the_checkout_comes_with_all_it_needs() -> None:
    (line,) = re.findall(r"^\$ pip install (\./.+)$", README, re.MULTILINE)
    names = [each.removeprefix("./") for each in line.split()]
    workspace = {member.name: member for member in members(ROOT)}
    assert {*names} == {*dependencies(workspace[names[-1]], workspace)}


def test_the_page_is_read_in_ten_minutes() -> None:
    assert len(README.splitlines()) < 150
