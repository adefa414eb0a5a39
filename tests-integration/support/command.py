"""The `dsh` command, called in this process or started as one of its own."""

import io
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from openai_wire import KEY

from dsh.cli import main

COMMAND = (sys.executable, "-m", "dsh.cli")


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What a command left."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Standard output as the JSON object it must be."""
        found: dict[str, Any] = json.loads(self.out)
        return found


def environment(url: str, **more: str) -> dict[str, str]:
    """This process's variables, with a fake endpoint as the only model there is a key for."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    found = {"COLUMNS": "120", "OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY}
    return kept | found | {"PYTHONPATH": os.pathsep.join(sys.path)} | more


class Dsh:
    """Calls `dsh` in this process, without a terminal."""

    def __init__(
        self, env: Mapping[str, str], patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._capsys = capsys
        self._patch = patch
        for name in os.environ:
            if name.endswith("_API_KEY"):
                patch.delenv(name)
        for name, value in env.items():
            patch.setenv(name, value)

    def __call__(self, *arguments: str, stdin: str = "") -> Ended:
        self._patch.setattr(sys, "stdin", io.StringIO(stdin))
        self._capsys.readouterr()
        try:
            status = main(arguments)
        except SystemExit as exc:
            status = int(exc.code or 0)
        out, err = self._capsys.readouterr()
        return Ended(status=status, out=out, err=err)
