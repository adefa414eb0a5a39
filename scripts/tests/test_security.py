"""The page on security names tests that exist and run."""

import ast
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = ROOT / "docs" / "security.md"
TEST: Final = re.compile(r"\[(?P<name>test_\w+)\]\((?P<path>[^)]+)\)")


def running_tests(path: Path) -> set[str]:
    """The tests of a file, without those that are skipped or not expected to pass."""
    defined = ast.parse(path.read_text(encoding="utf-8")).body
    functions = (
        each for each in defined if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return {
        each.name
        for each in functions
        if not re.search(r"\b(skip|skipif|xfail)\b", "".join(map(ast.unparse, each.decorator_list)))
    }


def test_each_test_that_a_claim_on_security_names_exists_and_runs() -> None:
    named = [(each["name"], each["path"]) for each in TEST.finditer(PAGE.read_text("utf-8"))]
    missing = [name for name, path in named if name not in running_tests(PAGE.parent / path)]
    assert len(named) > 50
    assert missing == []


def test_each_claim_on_security_names_a_test() -> None:
    claims = re.findall(r"^\| (?!claim|---)(.+) \| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(claims) > 40
    assert [claim for claim, tests in claims if not TEST.search(tests)] == []
