"""A run takes turns, judges the figures and shows them, and fails only on what is ours."""

import json
import math
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest
from benchmarks import __main__, floor, log, rounds
from benchmarks.groups import GROUPS, GROWS, ONCE, PEERS, Group
from benchmarks.harness import Sample
from benchmarks.page import Run, page
from benchmarks.results import FLOOR, OURS, Key, Results
from benchmarks.rounds import Limits, measure
from benchmarks.table import as_json, case_lines, cell, target_lines
from benchmarks.targets import TARGETS, Target, Verdict, judged

SUPPORT = Path(__file__).with_name("support")
FOUND = "child given 10,000 messages"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Group:
    monkeypatch.setattr(rounds, "VARIABLES", {"PYTHONPATH": str(SUPPORT)})
    return Group(name="planted", about="", modules={OURS: "planted_cases"}, only=("cheap",))


def results(figures: Mapping[Key, tuple[float, ...]], measure: str = "cpu") -> Results:
    taken: dict[Key, dict[int, Sample]] = {
        key: {number: {measure: value} for number, value in enumerate(values)}
        for key, values in figures.items()
    }
    return Results(
        samples=taken,
        groups={"group": list(dict.fromkeys(case for _, case in taken))},
        order=dict.fromkeys(subject for subject, _ in taken),
    )


def verdict(name: str, found: Results) -> Verdict:
    return next(each for each in judged(found) if each.target.name == name)


def test_a_round_warms_up_and_the_others_count(planted: Group) -> None:
    found = measure([planted], Limits(rounds=2))
    assert found.samples[OURS, "cheap"] == {
        1: {"cpu": 1.0, "wall": 1.0},
        2: {"cpu": 1.0, "wall": 1.0},
    }
    assert found.groups == {"planted": ["cheap"]}


def test_a_costly_case_counts_at_once_and_is_not_repeated(planted: Group) -> None:
    found = measure([planted], Limits(rounds=5, warm=0.0, case=0.0))
    assert list(found.samples[OURS, "cheap"]) == [0]


def test_what_would_take_too_long_by_a_tenth_of_it_is_not_tried(
    planted: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "GROWS", {"chatters": "cheap"})
    both = Group(name="g", about="", modules=planted.modules, only=("cheap", "chatters"))
    found = measure([both], Limits(rounds=1, sample=1e-9 + 5))
    assert (OURS, "chatters") in found.samples
    monkeypatch.setattr(rounds, "GROWS", {"chatters": "hangs"})
    both = Group(name="g", about="", modules=planted.modules, only=("hangs", "chatters"))
    found = measure([both], Limits(rounds=1, sample=0.5))
    assert found.missing[OURS, "hangs"] == "over 0.5 s"
    assert found.missing[OURS, "chatters"] == "not tried, because of: hangs"


def test_a_ratio_is_the_median_of_the_rounds() -> None:
    found = results({("a", "x"): (2.0, 8.0, 3.0), ("b", "x"): (1.0, 2.0, 1.0)})
    assert found.ratio(("a", "x"), ("b", "x")) == 3
    assert found.median("a", "x") == 3
    assert math.isnan(found.ratio(("a", "x"), ("nobody", "x")))


def test_without_a_common_round_a_ratio_is_that_of_the_medians() -> None:
    found = results({("a", "x"): (6.0,)})
    found.samples["b", "x"] = {4: {"cpu": 2.0}}
    assert found.ratio(("a", "x"), ("b", "x")) == 3


def test_we_are_compared_with_the_fastest_peer() -> None:
    figures = {(OURS, "delegation"): (1.0,), (FLOOR, "delegation"): (0.1,)}
    figures |= {("slow", "delegation"): (8.0,), ("fast", "delegation"): (4.0,)}
    found = verdict("delegation ÷ fastest peer", results(figures))
    assert (found.value, found.words, found.blocks) == (0.25, "met", False)


@pytest.mark.parametrize(
    ("value", "words", "blocks"),
    [
        (1.0, "met", False),
        (1.5, "missed, 1.50 of it", False),
        (2.5, "BEYOND 2", True),
        (math.nan, "not measured", False),
    ],
)
def test_a_target_may_be_missed_by_less_than_twice(value: float, words: str, blocks: bool) -> None:
    found = Verdict(target=Target(name="t", value=lambda _: value, target=1.0), value=value)
    assert (found.words, found.blocks) == (words, blocks)


def test_a_figure_of_a_peers_costs_at_most_half_of_it() -> None:
    figures = {(OURS, "delegation"): (5.1,), ("fast", "delegation"): (10.0,)}
    assert verdict("delegation ÷ fastest peer", results(figures)).blocks


def test_a_case_is_measured_in_one_group_only() -> None:
    chosen = {case for group in GROUPS for case in group.only}
    assert set(GROWS) | set(GROWS.values()) <= chosen
    assert ONCE & chosen
    ours = [
        case for group in GROUPS for case in group.only or import_module(group.modules[OURS]).CASES
    ]
    assert len(set(ours)) == len(ours)
    assert len({target.name for target in TARGETS}) == len(TARGETS)


def test_ours_has_every_case_that_a_group_chooses() -> None:
    for group in GROUPS:
        assert set(group.only) <= set(import_module(group.modules[OURS]).CASES), group.name


def test_a_run_without_a_figure_of_ours_fails(
    planted: Group, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fails = Group(name="fails", about="", modules=planted.modules, only=("fails",))
    assert __main__.main([], groups=[planted], output=tmp_path) == 0
    assert __main__.main(["fails"], groups=[planted, fails], output=tmp_path) == 1
    assert "not measured: ours, fails: fails: ValueError: no such model" in capsys.readouterr().out
    absent = Group(name="absent", about="", modules={OURS: "nothing"})
    assert __main__.main([], groups=[absent], output=tmp_path) == 1


def test_a_run_without_a_peer_says_so_and_passes(
    planted: Group, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = Group(
        name="beside", about="", modules={**planted.modules, "peer": "nothing"}, only=("cheap",)
    )
    assert __main__.main([], groups=[beside], output=tmp_path) == 0
    assert "peer: not measured: fails: ModuleNotFoundError" in capsys.readouterr().out
    report = json.loads((tmp_path / "benchmarks.json").read_text())
    assert "nothing" in report["absent"]["peer"]
    assert report["cases"][0]["cpu"]["median"] == 1.0


def test_a_run_beyond_a_limit_fails(planted: Group, tmp_path: Path) -> None:
    both = Group(name="g", about="", modules=planted.modules, only=("cheap",))
    limit = Target(name="t", value=lambda found: found.median(OURS, "cheap"), target=0.4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.targets.TARGETS", (limit,))
        assert __main__.main([], groups=[both], output=tmp_path) == 1


def test_the_page_is_written_with_its_plot(
    planted: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(_: Results, path: Path) -> None:
        path.write_text("a picture")

    monkeypatch.setattr("benchmarks.__main__._drawer", lambda: draw)
    arguments = ["--write-docs", "--rounds", "1"]
    assert __main__.main(arguments, groups=[planted], output=tmp_path, docs=tmp_path) == 0
    assert (tmp_path / "performance.svg").read_text() == "a picture"
    assert "| cheap | 1.00 s n=1 |" in (tmp_path / "performance.md").read_text()


def test_the_page_is_refused_before_the_run_if_it_cannot_have_its_plot(
    planted: Group, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.__main__._drawer", lambda: None)
    with pytest.raises(SystemExit):
        __main__.main(["--write-docs"], groups=[planted])
    assert "uv run --group bench" in capsys.readouterr().err


def test_the_page_is_refused_for_some_groups_only(
    planted: Group, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["planted", "--write-docs"], groups=[planted])
    assert "the page shows all groups" in capsys.readouterr().err


def test_the_same_run_draws_the_same_picture(tmp_path: Path) -> None:
    plot = pytest.importorskip("benchmarks.plot", exc_type=ImportError)
    found = results({(OURS, "delegation"): (1.0, 2.0), ("fast", "delegation"): (4.0,)})
    found.samples[OURS, FOUND] = {0: {"cpu": 1.0}}
    for name in ("one.svg", "other.svg"):
        plot.draw(found, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_an_unknown_group_lists_the_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        __main__.main(["nothing"])
    known = ", ".join(group.name for group in GROUPS)
    assert f"no nothing; there are {known}" in capsys.readouterr().err


def test_a_figure_shows_its_spread_and_its_rounds() -> None:
    found = results({(OURS, "x"): (0.0014, 0.00144, 0.0016), (OURS, "y"): (2e-5,)})
    assert cell(found, (OURS, "x"), "cpu") == "1.44 ms (1.40-1.60) n=3"
    assert cell(found, (OURS, "y"), "cpu") == "20.0 µs n=1"
    assert cell(found, (OURS, "y"), "wall") == ""


def test_the_page_has_every_figure_target_and_reason() -> None:
    found = results({(OURS, "delegation"): (1.0,), ("fast", "delegation"): (4.0,)})
    found.missing["fast", FOUND] = "over 60 s"
    found.groups["group"].append(FOUND)
    found.absent["gone"] = "cannot be installed: a | b"
    run = Run(date="2026-01-01", minutes=3, command="run it", machine="a machine", versions={})
    text = page(run, found, judged(found), plot="performance.svg")
    assert "| ours | 1.00 s n=1 |" in text
    assert "| ours ÷ the least of the others' | 0.250 |" in text
    assert "| delegation ÷ fastest peer | 0.250 | 0.250 | 0.500 | met |" in text
    assert f"| fast | {FOUND} | over 60 s |" in text
    assert "| gone | all of it | cannot be installed: a / b |" in text
    lines = [*case_lines(found), *target_lines(judged(found))]
    assert any("over 60 s" in line for line in lines)
    assert json.dumps(as_json(found, judged(found)))


def test_a_fork_of_a_long_log_keeps_as_little_as_one_of_a_short_log() -> None:
    long, short = (log.CASES[f"kept by a fork of {n} messages"]() for n in ("10,000", "10"))
    assert long["kilobytes"] <= 1.2 * short["kilobytes"]
    assert long["objects"] < 15


def test_the_floor_counts_what_a_child_costs() -> None:
    assert floor.floor_case(10)()["cpu"] > 0


def test_every_peer_has_a_module_of_its_own() -> None:
    modules = [peer.module for peer in PEERS.values()]
    assert len(set(modules)) == len(modules)
    root = Path(__file__).parent.parent
    assert all((root / f"{module.replace('.', '/')}.py").exists() for module in modules)
