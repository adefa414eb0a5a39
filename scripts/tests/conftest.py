"""A small tree to plant faults in, and an environment that asks for colours."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gates.plain import COLOURS


@pytest.fixture
def plant(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write the given files (path from the root to text) and return the root."""

    def write(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask for colours in every way there is, as the machines that run other people's CI do."""
    for name in COLOURS | {"CI", "GITHUB_ACTIONS"}:
        monkeypatch.setenv(name, "true" if name in {"CI", "GITHUB_ACTIONS"} else "1")
