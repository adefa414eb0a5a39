"""The inventory, the tests that prove it, and the page made of both."""

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import indent
from typing import Final

import pytest

from gates.guarantees import check
from pages.guarantees import PAGE, summary
from pages.inventory import read_inventory

Plant = Callable[[Mapping[str, str]], Path]

ROOT: Final = Path(__file__).resolve().parents[2]
TEST: Final = "packages/dsh-one/tests/test_one.py"
DECISION: Final = {"docs/decisions/0001-one.md": "# 1. One\n"}
HEAD: Final = "import pytest\n\n"
PROOF: Final = (
    '@pytest.mark.guarantee("B-ONE-01")\ndef test_it():\n    """One holds, e.g. always."""\n'
)


def inventory(*, finished: bool = False, reason: str = "", case: str = "", kind: str = "") -> str:
    done = "true" if finished else "false"
    return (
        f'[groups.B-ONE]\ntitle = "One"\nfinished = {done}\n'
        'ids = ["B-ONE-01", "B-ONE-02"]\nseed = ["B-ONE-02"]\n'
        + (f"[groups.B-ONE.not-adopted]\n{reason}\n" if reason else "")
        + f'[kinds.hang]\nfinished = {kind or "false"}\n[kinds.hang.cases]\nB001 = "https://x/1"\n'
        + (f'[kinds.hang.not-adopted]\nB001 = "{case}"\n' if case else "")
    )


def tree(plant: Plant, inventory: str, test: str = PROOF) -> Path:
    root = plant({"docs/inventory.toml": inventory, TEST: HEAD + test} | DECISION)
    PAGE.write(root)
    return root


def faults(plant: Plant, inventory: str, test: str = PROOF) -> list[str]:
    return check(tree(plant, inventory, test))


def test_a_finished_group_with_a_test_or_a_reason_for_each_id_holds(plant: Plant) -> None:
    reason = 'B-ONE-02 = "superseded: 0001-one.md"'
    root = tree(plant, inventory(finished=True, reason=reason))
    assert check(root) == []
    assert summary(root) == (
        "behaviours: 2 (1 proven, 1 not adopted, 0 open);"
        " field cases: 1 (0 proven, 0 not adopted, 1 open)"
    )


def test_an_id_of_a_finished_group_without_test_and_reason_is_found(plant: Plant) -> None:
    assert faults(plant, inventory(finished=True)) == [
        "docs/inventory.toml: B-ONE-02 has neither a test nor a reason, and B-ONE is finished"
    ]


def test_a_case_of_a_finished_kind_without_test_and_reason_is_found(plant: Plant) -> None:
    assert faults(plant, inventory(kind="true")) == [
        "docs/inventory.toml: B001 has neither a test nor a reason, and hang is finished"
    ]


def test_a_case_may_be_answered_by_a_test_or_by_a_reason(plant: Plant) -> None:
    answered = PROOF.replace("@", '@pytest.mark.field_case("B001")\n@', 1)
    assert faults(plant, inventory(kind="true"), answered) == []
    for reason in ("no-such-part", "awaits: budgets", "decided-otherwise: 0001-one.md"):
        assert faults(plant, inventory(kind="true", case=reason)) == []


@pytest.mark.parametrize("finished", [True, False])
def test_an_id_with_a_test_and_a_reason_is_found(plant: Plant, finished: bool) -> None:
    both = 'B-ONE-01 = "no-such-part: two"\nB-ONE-02 = "awaits: workflow"'
    (failure,) = faults(plant, inventory(finished=finished, reason=both))
    assert failure.startswith("docs/inventory.toml: B-ONE-01 has a reason (no-such-part: two) and")


@pytest.mark.parametrize(
    ("reason", "what"),
    [
        ('B-ONE-01 = "later"', "unknown reason 'later'"),
        ('B-ONE-01 = ""', "unknown reason ''"),
        ('B-ONE-01 = "awaits: rain"', "unknown reason 'awaits: rain'"),
        ('B-ONE-01 = "superseded: 0002-two.md"', "no decision '0002-two.md'"),
        ('B-ONE-01 = "superseded: ../inventory.toml"', "no decision '../inventory.toml'"),
        ('B-ONE-02 = "awaits: resume"', "marked as seed"),
        ('B-ONE-02 = "no-such-part"', "marked as seed"),
        ('B-ONE-02 = "decided-otherwise: 0001-one.md"', "marked as seed"),
    ],
)
def test_a_reason_that_does_not_count_is_found(plant: Plant, reason: str, what: str) -> None:
    id_ = reason.partition(" ")[0]
    (failure,) = faults(plant, inventory(reason=reason), "")
    assert failure.startswith(f"docs/inventory.toml: {id_}: {what}")


@pytest.mark.parametrize("reason", ["superseded: 0001-one.md", "awaits: rain", "decided-otherwise"])
def test_a_reason_a_case_cannot_have_is_found(plant: Plant, reason: str) -> None:
    (failure,) = faults(plant, inventory(case=reason))
    assert failure.startswith("docs/inventory.toml: B001: ")


def test_a_reason_for_an_id_that_is_not_there_is_found(plant: Plant) -> None:
    assert faults(plant, inventory(reason='B-ONE-03 = "no-such-part"')) == [
        "docs/inventory.toml: B-ONE: B-ONE-03 is not one of its ids"
    ]


def test_a_gap_in_the_numbers_is_found(plant: Plant) -> None:
    gap = inventory().replace('"B-ONE-02"', '"B-ONE-03"')
    (failure,) = faults(plant, gap)
    assert failure == "docs/inventory.toml: B-ONE: the ids are not B-ONE-01 and on, without a gap"


def test_an_inventory_of_another_form_is_one_readable_failure(plant: Plant) -> None:
    root = plant({"docs/inventory.toml": inventory().replace("finished", "done", 1)})
    (failure,) = check(root)
    assert failure.startswith("docs/inventory.toml: ")
    assert "finished" in failure


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("B-ONE-01", "B-ONE-09", "test_it names B-ONE-09, which is no behaviour"),
        ('guarantee("B-ONE-01")', 'field_case("B999")', "names B999, which is no field case"),
        (
            '"B-ONE-01"',
            '"B-ONE-01", "B-ONE-02", "B-ONE-01", "B-ONE-02"',
            "test_it names 4 behaviours; 3 are the limit",
        ),
        ('"""One holds, e.g. always."""', "pass", "test_it has no docstring"),
        ("e.g. always.", "always. Two does not.", "not one sentence"),
        ("always.", "always", "not one sentence"),
        ("def test_it", "@pytest.mark.skip\ndef test_it", "is skipped or expected to fail"),
        ("def test_it", "@pytest.mark.xfail(strict=True)\ndef test_it", "is skipped or expected"),
        ('("B-ONE-01")', "()", "no ids, written out"),
        ('("B-ONE-01")', "(*IDS)", "no ids, written out"),
        ("def test_it", "def it", "marked other than as a decorator"),
        ("@pytest.mark", "@mark", "marked other than as a decorator"),
        ("@pytest", "pytestmark = pytest", "marked other than as a decorator"),
    ],
)
def test_a_mark_that_claims_too_much_is_found(plant: Plant, old: str, new: str, what: str) -> None:
    test = PROOF.replace(old, new)
    if new.startswith("pytestmark"):
        test = test.replace("\ndef", "\n\ndef")
    (failure,) = faults(plant, inventory(), test)
    assert failure.startswith(f"{TEST}:")
    assert what in failure


@pytest.mark.parametrize(
    "test",
    [
        "pytestmark = [pytest.mark.skip(reason='later')]\n\n" + PROOF,
        "@pytest.mark.xfail\nclass TestOne:\n" + indent(PROOF, "    "),
        "class TestOne:\n    pytestmark = pytest.mark.skip\n\n" + indent(PROOF, "    "),
    ],
)
def test_a_mark_below_a_skipped_module_or_class_is_found(plant: Plant, test: str) -> None:
    (failure,) = faults(plant, inventory(), test)
    assert failure.endswith("is skipped or expected to fail: it proves nothing")


def test_a_test_of_one_platform_counts(plant: Plant) -> None:
    mark = "pytestmark = pytest.mark.skipif(True, reason='POSIX only')\n\n"
    root = tree(plant, inventory(), mark + PROOF)
    assert check(root) == []
    assert summary(root).startswith("behaviours: 2 (1 proven")


def test_a_mark_in_a_file_pytest_does_not_collect_is_found(plant: Plant) -> None:
    root = plant({"docs/inventory.toml": inventory(), "scripts/tests/one.py": HEAD + PROOF})
    PAGE.write(root)
    (failure,) = check(root)
    assert failure.startswith("scripts/tests/one.py:3: marked other than as a decorator")


def test_async_tests_and_methods_of_test_classes_count(plant: Plant) -> None:
    method = "class TestOne:\n" + indent(PROOF.replace("def", "async def"), "    ")
    root = tree(plant, inventory(), method)
    assert check(root) == []
    assert f"[{TEST}::TestOne::test_it](../{TEST})" in (root / PAGE.owns).read_text()


@pytest.mark.guarantee("B-GATE-14", "B-GATE-15")
def test_a_stale_page_is_found_until_it_is_written_again(plant: Plant) -> None:
    """A generated page that was edited or merged by hand fails until it is generated anew."""
    root = tree(plant, inventory())
    page = root / PAGE.owns
    page.write_text(page.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")
    assert check(root) == ["docs/guarantees.md: stale; run scripts/generate"]
    assert PAGE.write(root) == ["docs/guarantees.md"]
    assert check(root) == []
    assert PAGE.write(root) == []


def test_the_page_shows_the_sentence_its_test_and_the_threads(plant: Plant) -> None:
    reason = 'B-ONE-02 = "superseded: 0001-one.md"'
    page = (tree(plant, inventory(reason=reason)) / PAGE.owns).read_text()
    assert f"| One holds, e.g. always. | [{TEST}::test_it](../{TEST}) | B-ONE-01 |" in page
    assert "- Not adopted, superseded by [0001-one.md](decisions/0001-one.md): B-ONE-02" in page
    assert "- Open: [B001](https://x/1)" in page


def test_the_inventory_of_this_repository_is_whole() -> None:
    whole = read_inventory(ROOT)
    assert (len(whole.groups), len(whole.behaviours)) == (20, 450)
    assert (len(whole.kinds), len(whole.field_cases)) == (27, 168)
    assert all(url.startswith("https://") for k in whole.kinds.values() for url in k.cases.values())
    assert sum(len(group.seed) for group in whole.groups.values()) == 85
