"""A release: a fault of each kind is planted and found, and the whole of it is tried."""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from gates.workspace import Member, members
from release import main, rehearse
from shipping import changelog
from shipping.order import dependencies, published
from shipping.workshop import Workshop, loads, run

Plant = Callable[[Mapping[str, str]], Path]
ROOT: Final = Path(__file__).parents[2]
MANIFEST: Final = '[project]\nname = "dsh-{}"\nversion = "0.1.0"\ndependencies = {}\n'
PRIVATE: Final = 'classifiers = ["Private :: Do Not Upload"]\n'


def workspace(root: Path) -> Mapping[str, Member]:
    return {member.name: member for member in members(root)}


def manifest(name: str, needs: str, more: str = "") -> Mapping[str, str]:
    return {f"packages/dsh-{name}/pyproject.toml": MANIFEST.format(name, needs) + more}


def test_a_member_comes_with_the_members_it_needs_however_far_off(plant: Plant) -> None:
    root = plant(
        {
            **manifest("a", '["dsh-b>=0.1,<0.2", "trio"]'),
            **manifest("b", '["dsh-c", "dsh-d ; python_version > \'3\'"]'),
            **manifest("c", '["dsh-d[x]"]'),
            **manifest("d", "[]"),
            **manifest("e", "[]"),
        }
    )
    family = workspace(root)
    assert dependencies(family["dsh-a"], family) == ["dsh-a", "dsh-b", "dsh-c", "dsh-d"]


def test_what_is_published_comes_after_what_it_needs_and_without_what_is_private(
    plant: Plant,
) -> None:
    root = plant(
        {
            **manifest("a", '["dsh-c"]'),
            **manifest("b", "[]"),
            **manifest("c", '["dsh-b"]'),
            **manifest("mock", '["dsh-a"]', PRIVATE),
        }
    )
    assert [each.name for each in published(workspace(root))] == ["dsh-b", "dsh-c", "dsh-a"]


def test_a_published_package_that_needs_a_private_one_is_named(plant: Plant) -> None:
    root = plant({**manifest("a", '["dsh-mock"]'), **manifest("mock", "[]", PRIVATE)})
    with pytest.raises(ValueError, match="dsh-a needs dsh-mock, which is never published"):
        published(workspace(root))


ENTRIES: Final = (
    "# Changelog\n\n## Unreleased\n\n- dsh-a: more.\n  Much more.\n- unchanged: dsh-b\n"
)


def test_a_changelog_with_a_word_on_each_package_is_green() -> None:
    assert changelog.malformed(ENTRIES, ["dsh-a", "dsh-b"]) == []
    assert changelog.silent(ENTRIES, ["dsh-a", "dsh-b"]) == []


def test_an_entry_may_be_about_several_packages() -> None:
    text = ENTRIES.replace("dsh-a:", "dsh-a, dsh-c:")
    assert changelog.malformed(text, ["dsh-a", "dsh-b", "dsh-c"]) == []
    assert changelog.silent(text, ["dsh-a", "dsh-b", "dsh-c"]) == []


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("# Changelog\n", "has 0 sections '## Unreleased', needs one"),
        (ENTRIES.replace("- dsh-a: ", "- "), "'- more. Much more.' does not begin with a package"),
        (ENTRIES.replace("dsh-a:", "`dsh-a`:"), "'- `dsh-a`: more. Much more.' does not begin"),
        (ENTRIES.replace("dsh-a:", "dsh-a, dsh-z:"), "'- dsh-a, dsh-z: more. Much more.' does not"),
    ],
)
def test_an_entry_of_another_form_is_named(text: str, failure: str) -> None:
    (found,) = changelog.malformed(text, ["dsh-a", "dsh-b"])
    assert found.startswith(f"CHANGELOG.md: {failure}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (ENTRIES.replace("- dsh-a: more.\n  Much more.\n", ""), "dsh-a"),
        (ENTRIES.replace("dsh-b", "dsh-a"), "dsh-b"),
        (ENTRIES.replace("- unch", "## 0.1.0\n\n- unch"), "dsh-b"),
    ],
)
def test_a_package_that_the_changelog_leaves_out_is_named(text: str, name: str) -> None:
    (found,) = changelog.silent(text, ["dsh-a", "dsh-b"])
    assert found.startswith(f"CHANGELOG.md: {name} has no entry, and is not among those that are")


def test_the_changelog_of_this_workspace_is_of_that_form() -> None:
    text = (ROOT / changelog.CHANGELOG).read_text(encoding="utf-8")
    assert changelog.malformed(text, [*workspace(ROOT)]) == []


def test_a_package_that_does_not_load_where_it_is_installed_is_told(plant: Plant) -> None:
    (member,) = members(plant(manifest("nowhere", "[]")))
    assert "No module named 'dsh.nowhere'" in loads(Path(sys.executable), member)


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("pass", ""),
        ("import os; os.getcwd() == os.sep or exit('inside')", ""),
        ("import os; 'PYTHONPATH' in os.environ and exit('led astray')", ""),
        ("print('half'); exit('broken')", "half\nbroken"),
        ("exit(3)", "exit status 3, without a word"),
        ("import time; time.sleep(60)", "it did not end within 0.5 seconds"),
    ],
)
def test_an_example_that_fails_or_does_not_end_is_told(
    program: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    limit = 0.5 if "sleep" in program else 60
    assert run(sys.executable, "-u", "-c", program, limit=limit) == problem


def test_a_package_that_does_not_build_ends_it(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = plant({"uv": "#!/bin/sh\necho no backend; exit 2\n", **manifest("a", "[]")})
    (root / "uv").chmod(0o755)
    workshop = Workshop(uv=str(root / "uv"), folder=tmp_path, workspace=workspace(root))
    assert rehearse(workshop, None) == 1
    assert capsys.readouterr().out == "FAIL they do not build\nno backend\n\n"


def test_without_a_place_to_publish_to_it_says_what_can_be_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        main([])
    assert left.value.code == 2
    assert "nothing here publishes: this repository has no index" in capsys.readouterr().err


def test_a_version_that_would_not_do_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--set", "soon"])
    assert "the version 'soon' is not three numbers" in capsys.readouterr().err


@pytest.mark.wheels
def test_a_release_of_this_workspace_goes_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["--dry-run", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert status == 0, printed
    order = [line.split()[0] for line in printed.splitlines() if line.startswith("  dsh-")]
    assert order.index("dsh-agent") < order.index("dsh-subagent") < order.index("dsh-cli")
    assert printed.endswith("would not: dsh-subagent-mock\n")
    assert len(os.listdir(tmp_path)) == 2 * len(order)
