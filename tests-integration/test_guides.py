"""The tutorial and the guides, followed to the letter: files, commands, and what they print."""

import json
import re
import shutil
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Final

import pytest
from fake_endpoint import endpoint_in_a_thread
from openai_wire import KEY, answer, refuse
from reader import Command, programs_of, reading, steps

from dsh.agent import TextBlock, ToolCallBlock

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
PYTHON: Final = Path(sys.executable)
GUIDES: Final = {page.stem: page for page in sorted((DOCS / "how-to").glob("*.md"))}
TUTORIAL: Final = (DOCS / "tutorial.md").read_text(encoding="utf-8")
STARTED_BY_OTHERS: Final = "clerk.py"
"""The file of the tutorial that its reader does not run: the two after it start it as an agent."""


def files_of(page: str) -> list[str]:
    """The files that *page* has its reader write, in their order."""
    return [step[0] for step in steps(page) if not isinstance(step, Command)]


def run_by(typed: Iterable[str]) -> list[str]:
    """The files that the commands *typed* run, in their order."""
    commands = [line.split() for line in typed if line.startswith(("python ", "pytest "))]
    return [next(word for word in words if word.endswith(".py")) for words in commands]


@pytest.fixture
def model() -> Generator[dict[str, str]]:
    """What the tutorial's last step asks its reader to set, for a model that does as it is told."""
    arguments = json.dumps({"description": "compare", "prompt": "Which is larger, 7 or 12?"})
    call = ToolCallBlock(id="c", name="subagent", arguments=arguments)
    said = TextBlock(text="12 is larger.")
    with endpoint_in_a_thread(refuse) as endpoint:
        endpoint.replies = [answer(call, finish="tool_calls"), answer(said), answer(said)]
        yield {"BASE_URL": endpoint.url, "MODEL": "any", "API_KEY": KEY}


def test_the_tutorial_does_what_it_says(model: dict[str, str], tmp_path: Path) -> None:
    _, _, installed = TUTORIAL.partition("## Install\n")[2].partition("\n## ")
    with reading(tmp_path, **model, **programs_of(PYTHON)) as reader:
        typed = reader.follow(installed)
    assert len(typed) == 10
    assert run_by(typed) == [name for name in files_of(TUTORIAL) if name != STARTED_BY_OTHERS]


@pytest.mark.wheels
def test_the_tutorial_does_what_it_says_in_an_environment_of_its_own(
    model: dict[str, str], tmp_path: Path
) -> None:
    directory = tmp_path / "empty"
    directory.mkdir()
    with reading(directory, **model, DSH=str(ROOT)) as reader:
        assert len(reader.follow(TUTORIAL)) == 14
    assert shutil.which("dsh", path=str(directory / ".venv" / "bin"))


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_does_what_it_says(name: str, tmp_path: Path) -> None:
    page = GUIDES[name].read_text(encoding="utf-8")
    with reading(tmp_path, **programs_of(PYTHON)) as reader:
        typed = reader.follow(page)
    assert run_by(typed) == files_of(page)


def test_no_python_of_the_tutorial_and_the_guides_goes_untried() -> None:
    for page in (DOCS / "tutorial.md", *GUIDES.values()):
        text = page.read_text(encoding="utf-8")
        assert len(files_of(text)) == len(re.findall(r"^```python$", text, re.MULTILINE)), page.name
