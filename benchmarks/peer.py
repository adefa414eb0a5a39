"""Our delegation and fan-out beside other libraries', each in an environment of its own.

A peer lives in ``.tools/peers/`` and runs its script of ``benchmarks.peers`` as a process of its
own; in every round each peer and we take one turn. What a peer cannot do is a line of the report,
not a failure of it.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias, cast, final

from benchmarks.children import fan_out_case
from benchmarks.delegate import turn_case
from benchmarks.harness import Benchmark, Case, Figure, Measured

__all__ = ["BENCHMARK", "NotMeasured", "Peer", "Sampler", "install", "sample", "side_by_side"]

ROOT: Final = Path(__file__).resolve().parent.parent
TOOLS: Final = ROOT / ".tools"
ROUNDS: Final = 3
INSTALL_SECONDS: Final = 300.0
SAMPLE_SECONDS: Final = 60.0
DELEGATE, FAN_OUT = "delegate", "fan-out"

Sampler: TypeAlias = Callable[[], Mapping[str, float]]
"""Measures once: CPU seconds per operation by case. Raises ``NotMeasured``."""


class NotMeasured(Exception):  # noqa: N818 - an outcome of a peer, said in its own words
    """Why there is no figure of a peer."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A library, its version, and the module that measures it."""

    name: str
    version: str
    module: str


PEERS: Final = (
    Peer(name="strands-agents", version="1.62.0", module="benchmarks.peers.on_strands"),
    Peer(name="smolagents", version="1.26.0", module="benchmarks.peers.on_smolagents"),
)


def install(peer: Peer, *, uv: str | None = None, under: Path = TOOLS / "peers") -> Path:
    """Make the peer's environment, or find it made; returns its Python. Raises ``NotMeasured``."""
    uv = uv or shutil.which("uv", path=f"{os.environ.get('PATH', '')}{os.pathsep}{TOOLS / 'bin'}")
    if uv is None:
        raise NotMeasured("no uv on PATH or in .tools/")
    home = under / f"{peer.name}-{peer.version}"
    python = home / "bin" / "python"
    made = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(home)]
    _output(made, seconds=INSTALL_SECONDS, failed="cannot be installed")
    filled = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python)]
    _output(
        [*filled, f"{peer.name}=={peer.version}"],
        seconds=INSTALL_SECONDS,
        failed="cannot be installed",
    )
    return python


def sample(command: Sequence[str], *, seconds: float = SAMPLE_SECONDS) -> Mapping[str, float]:
    """What the peer's script prints in its last line. Raises ``NotMeasured``."""
    printed = _output(command, seconds=seconds, failed="fails")
    try:
        cases: object = json.loads(printed.splitlines()[-1])
        if not isinstance(cases, dict):
            raise TypeError("not an object")
        return {str(k): float(v) for k, v in cast(dict[object, float], cases).items()}
    except (IndexError, TypeError, ValueError) as error:
        raise NotMeasured(f"printed no figures: {error}") from error


def _output(command: Sequence[str], *, seconds: float, failed: str) -> str:
    """Run *command* in this repository with a clean environment; returns its output."""
    ours = ("PYTHONDONTWRITEBYTECODE", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in ours}
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise NotMeasured(f"takes over {seconds:g} s") from error
    except OSError as error:
        raise NotMeasured(f"{failed}: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise NotMeasured(f"{failed}: {said[-1]}")
    return done.stdout


def side_by_side(
    ours: Mapping[str, Case], peers: Mapping[str, Sampler], *, rounds: int
) -> Sequence[Figure]:
    """Take turns, and report every case, ours ÷ the fastest peer's, and who was not measured."""
    samples: dict[str, dict[str, list[float]]] = {name: {} for name in peers}
    mine: dict[str, list[float]] = {case: [] for case in ours}
    missing: dict[str, str] = {}
    for run in ours.values():
        run()  # warm, as the peers' scripts do
    for _ in range(rounds):
        for case, run in ours.items():
            mine[case].append(run())
        for name, take in peers.items():
            if name in missing:
                continue
            try:
                for case, seconds in take().items():
                    samples[name].setdefault(case, []).append(seconds)
            except NotMeasured as error:
                missing[name] = str(error)
    measured = Measured(
        samples={f"ours, {case}": values for case, values in mine.items()}
        | {
            f"{name}, {case}": values
            for name in peers
            if name not in missing
            for case, values in samples[name].items()
        }
    )
    return (
        *(measured.microseconds(case) for case in measured.samples),
        *(Figure(name=f"{name} {why}", value=math.nan) for name, why in missing.items()),
        _beside_the_fastest(measured, DELEGATE, target="1/4"),
        _beside_the_fastest(measured, FAN_OUT, target="1/3"),
    )


def _beside_the_fastest(measured: Measured, case: str, *, target: str) -> Figure:
    """Ours ÷ the fastest peer's; what fails the run is half of it, the target is lower."""
    ours = f"ours, {case}"
    theirs = [each for each in measured.samples if each.endswith(f", {case}") and each != ours]
    name = f"{case} ÷ the fastest peer's (target {target})"
    if not theirs:
        return Figure(name=name, value=math.nan)
    fastest = min(theirs, key=measured.median)
    return Figure(name=name, value=measured.ratio(ours, fastest).value, limit=0.5)


def _sampler(peer: Peer) -> Sampler:
    try:
        python = install(peer)
    except NotMeasured as error:
        return partial(_fail, str(error))
    return partial(sample, (str(python), "-m", peer.module))


def _fail(reason: str) -> Mapping[str, float]:
    raise NotMeasured(reason)


def _run(rounds: int) -> Sequence[Figure]:
    ours = {
        DELEGATE: turn_case("subagent"),
        "tool": turn_case("trivial"),
        FAN_OUT: fan_out_case(100),
    }
    peers = {f"{peer.name} {peer.version}": _sampler(peer) for peer in PEERS}
    return side_by_side(ours, peers, rounds=min(rounds, ROUNDS))


BENCHMARK = Benchmark(name="peers", about="beside other libraries, CPU time", run=_run)
