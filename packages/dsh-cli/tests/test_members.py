"""Which members are installed, and what they lack."""

from collections.abc import Callable
from importlib.metadata import Distribution, distributions, version
from pathlib import Path
from typing import Final

import pytest

from dsh.cli import main
from dsh.cli._members import Member, installed, limitations

README: Final = """# dsh-one

## Known Limitations and Deferred Work

- It does not
  do much.
- It is `young`.
"""


@pytest.fixture
def install(tmp_path: Path) -> Callable[[str, str], list[Distribution]]:
    """Put a distribution of that name with that README on a path, and return the whole path."""

    def write(name: str, readme: str) -> list[Distribution]:
        info = tmp_path / f"{name.replace('-', '_')}-0.2.dist-info"
        info.mkdir()
        headers = f"Metadata-Version: 2.4\nName: {name}\nVersion: 0.2\n\n"
        (info / "METADATA").write_text(headers + readme, encoding="utf-8")
        return list(distributions(path=[str(tmp_path)]))

    return write


def test_the_limitations_are_the_bullets_of_their_section_each_on_one_line() -> None:
    assert list(limitations(README)) == ["It does not do much.", "It is `young`."]


def test_a_section_ends_at_the_next_heading() -> None:
    assert list(limitations(README + "\n## More\n\n- no limitation\n"))[-1] == "It is `young`."


def test_a_member_says_its_version_and_what_it_lacks(
    install: Callable[[str, str], list[Distribution]],
) -> None:
    assert installed(install("dsh-one", README)) == [
        Member(name="dsh-one", version="0.2", lacks=("It does not do much.", "It is `young`."))
    ]


@pytest.mark.parametrize(("name", "readme"), [("other", README), ("dsh-shell", "# A shell\n")])
def test_a_distribution_outside_the_family_is_no_member(
    install: Callable[[str, str], list[Distribution]], name: str, readme: str
) -> None:
    assert installed(install(name, readme)) == []


def test_the_command_lists_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["members"]) == 0
    assert f"\ndsh-cli {version('dsh-cli')}\n" in capsys.readouterr().out


def test_an_unknown_argument_is_refused_with_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["members", "--frobnicate"])
    assert caught.value.code == 2
    assert "--frobnicate" in capsys.readouterr().err
