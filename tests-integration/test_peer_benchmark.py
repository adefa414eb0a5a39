"""Other libraries' figures are read from their own processes, and one that fails is a line."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from benchmarks import peer
from benchmarks.__main__ import main
from benchmarks.harness import Benchmark, Figure
from benchmarks.peer import NotMeasured, Peer

FAKE = Peer(name="fake", version="1", module="fake")


def figures(peers: Mapping[str, peer.Sampler], *, ours: float = 1.0) -> dict[str, Figure]:
    cases = {"delegate": lambda: ours, "fan-out": lambda: ours}
    return {each.name: each for each in peer.side_by_side(cases, peers, rounds=2)}


def fails() -> Mapping[str, float]:
    raise NotMeasured("takes over 60 s")


def test_a_peers_last_line_is_its_figures() -> None:
    script = 'print("chatter"); print(\'{"delegate": 0.5, "fan-out": 2}\')'
    assert peer.sample([sys.executable, "-c", script]) == {"delegate": 0.5, "fan-out": 2.0}


@pytest.mark.parametrize("script", ["", "print('chatter')", "print([1])", "print('{\"a\": null}')"])
def test_a_peer_that_prints_no_figures_is_not_measured(script: str) -> None:
    with pytest.raises(NotMeasured, match="printed no figures"):
        peer.sample([sys.executable, "-c", script])


def test_a_peer_that_fails_says_its_last_words() -> None:
    with pytest.raises(NotMeasured, match=r"^fails: no such model$"):
        peer.sample([sys.executable, "-c", "import sys; sys.exit('first\\nno such model')"])


def test_a_peer_that_takes_too_long_is_ended() -> None:
    with pytest.raises(NotMeasured, match=r"takes over 0\.1 s"):
        peer.sample([sys.executable, "-c", "import signal; signal.pause()"], seconds=0.1)


def test_a_peers_process_has_compiled_bytecode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    script = "import sys; print('{\"off\": %d}' % sys.dont_write_bytecode)"
    assert peer.sample([sys.executable, "-c", script]) == {"off": 0}


def test_a_peer_that_cannot_be_installed_is_not_measured(tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    with pytest.raises(NotMeasured, match="cannot be installed"):
        peer.install(FAKE, uv=str(uv), under=tmp_path)
    uv.write_text("#!/bin/sh\necho no such package >&2\nexit 1\n")
    uv.chmod(0o755)
    with pytest.raises(NotMeasured, match="cannot be installed: no such package"):
        peer.install(FAKE, uv=str(uv), under=tmp_path)


def test_we_are_compared_with_the_fastest_peer() -> None:
    slow = {"delegate": 8.0, "fan-out": 1.5}
    fast = {"delegate": 4.0, "fan-out": 9.0}
    found = figures({"slow": lambda: slow, "fast": lambda: fast})
    delegate = found["delegate ÷ the fastest peer's (target 1/4)"]
    assert (delegate.value, delegate.within) == (0.25, True)
    assert not found["fan-out ÷ the fastest peer's (target 1/3)"].within
    assert found["slow, delegate"].value == 8e6


def test_a_peer_without_figures_is_a_line_and_fails_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    alone = Benchmark(name="b", about="", run=lambda _: list(figures({"fake 1": fails}).values()))
    assert main(["--json", str(report)], benchmarks=[alone]) == 0
    assert [each["value"] for each in json.loads(report.read_text())["b"]][-1] is None
    printed = capsys.readouterr().out
    assert "fake 1 takes over 60 s: not measured" in printed
    assert "delegate ÷ the fastest peer's (target 1/4): not measured" in printed
