"""The house rules."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.house import MAX_FUNCTION, MAX_LINES, check

Plant = Callable[[Mapping[str, str]], Path]

SOURCE: Final = "packages/dsh-one/src/dsh/one/_one.py"
TEST: Final = "packages/dsh-one/tests/test_one.py"
MANIFEST: Final = {"packages/dsh-one/pyproject.toml": '[project]\nname = "dsh-one"\n'}
HANDLER: Final = "try:\n    pass\nexcept {}:\n    raise\n"


@pytest.mark.parametrize(
    "code",
    [
        "import trio\n" + HANDLER.format("trio.Cancelled"),
        "import trio\n" + HANDLER.format("(OSError, trio.Cancelled)"),
        "from trio import Cancelled\n" + HANDLER.format("Cancelled"),
        "from trio import Cancelled as Stop\n" + HANDLER.format("Stop"),
        "import trio as t\n" + HANDLER.format("t.Cancelled"),
        "import trio\ntry:\n    pass\nexcept* trio.Cancelled:\n    raise\n",
    ],
)
def test_a_handler_of_cancelled_is_found_however_it_is_spelt(plant: Plant, code: str) -> None:
    (failure,) = check(plant({SOURCE: code}))
    line = code[: code.index("except")].count("\n") + 1
    assert failure == f"{SOURCE}:{line}: catches trio.Cancelled; clean up in `finally`"


def test_a_cancelled_of_another_library_may_be_caught(plant: Plant) -> None:
    code = "from concurrent.futures import CancelledError as Cancelled\n"
    assert check(plant({SOURCE: code + HANDLER.format("Cancelled")})) == []


@pytest.mark.parametrize(
    "line", ["from dsh.agent import Agent", "import dsh.agent", "from . import x"]
)
def test_an_import_of_ours_in_a_function_is_found(plant: Plant, line: str) -> None:
    (failure,) = check(plant({SOURCE: f"async def f():\n    if 1:\n        {line}\n"}))
    assert failure.startswith(f"{SOURCE}:3: imports ")


def test_an_import_in_a_nested_function_is_reported_once(plant: Plant) -> None:
    code = "def f():\n    def g():\n        import dsh.agent\n    return g\n"
    (failure,) = check(plant({SOURCE: code}))
    assert failure.startswith(f"{SOURCE}:3: imports dsh.agent")


def test_a_foreign_import_in_a_function_is_allowed(plant: Plant) -> None:
    assert check(plant({SOURCE: "def f():\n    import acp\n    return acp\n"})) == []


@pytest.mark.parametrize(
    "code",
    [
        "import trio\nawait trio.sleep(1)\n",
        "import time\ntime.sleep(1)\n",
        "from trio import sleep\nawait sleep(1)\n",
        "import asyncio as a\nawait a.sleep(1)\n",
        "import trio\nnursery.start_soon(trio.sleep, 1)\n",
    ],
)
@pytest.mark.parametrize("test", [TEST, "tests-integration/test_tree.py"])
def test_a_sleep_in_a_test_is_found(plant: Plant, code: str, test: str) -> None:
    (failure,) = check(plant({test: code}))
    assert failure.startswith(f"{test}:2: ")
    assert "sleep in a test" in failure


@pytest.mark.parametrize("what", ["cover", "branch"])
@pytest.mark.parametrize("comment", ["# pragma: no {}", "#pragma:no {} - x", "# PRAGMA: NO {} -"])
def test_code_taken_out_of_the_coverage_without_a_reason_is_found(
    plant: Plant, comment: str, what: str
) -> None:
    (failure,) = check(plant({SOURCE: f"one = 1\ntwo = 2  {comment.format(what)}\n"}))
    assert failure.startswith(f"{SOURCE}:2: takes code out of the coverage without a reason")


@pytest.mark.parametrize(
    "line",
    [
        "one = 1  # pragma: no cover - the other systems' side",
        "one = 1  # noqa: X - y  # pragma: no branch - a reason",
        "one = '# pragma: no cover'",
    ],
)
def test_code_taken_out_with_a_reason_or_words_about_it_are_allowed(
    plant: Plant, line: str
) -> None:
    assert check(plant({SOURCE: f"{line}\n"})) == []


def test_waiting_forever_in_a_test_and_sleeping_in_a_package_are_allowed(plant: Plant) -> None:
    sleep = "import trio\nasync def f():\n    await trio.{}\n"
    files = {TEST: sleep.format("sleep_forever()"), SOURCE: sleep.format("sleep(1)")}
    assert check(plant(files)) == []


def test_a_module_over_the_limit_is_found_and_one_at_it_is_not(plant: Plant) -> None:
    assert check(plant({**MANIFEST, SOURCE: "x = 1\n" * MAX_LINES})) == []
    (failure,) = check(plant({SOURCE: "x = 1\n" * (MAX_LINES + 1)}))
    assert failure == f"{SOURCE}: 301 lines; split it by noun, 300 are the limit"
    manifest = "packages/dsh-one/pyproject.toml"
    assert check(plant({manifest: MANIFEST[manifest] + '[tool.dsh]\nunfinished = "much"\n'})) == []


def test_a_function_over_the_limit_is_found_and_one_at_it_is_not(plant: Plant) -> None:
    body = "    x = 1\n" * (MAX_FUNCTION - 1)
    assert check(plant({**MANIFEST, SOURCE: f"def f():\n{body}"})) == []
    (failure,) = check(plant({SOURCE: f"def f():\n{body}    x = 2\n"}))
    assert failure == f"{SOURCE}:1: f: 61 lines, 60 are the limit"


def test_what_a_door_imports_and_exports_does_not_count_as_lines(plant: Plant) -> None:
    door = SOURCE.rpartition("/")[0] + "/__init__.py"
    names = "".join(f'    "a{number}",\n' for number in range(MAX_LINES))
    imports = names.replace('"', "")
    code = f"from dsh.a import (\n{imports})\n\n__all__ = [\n{names}]\n"
    assert check(plant({**MANIFEST, door: code})) == []
    assert len(check(plant({door: code + "x = 1\n" * (MAX_LINES + 1)}))) == 1
