"""`uv.lock` names the public index and its file host, whatever index the machine that wrote it had.

A lock written behind a mirror names the mirror, and nobody else can install from it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from gates.gate import Gate
from gates.workspace import read_toml

HOSTS: Final = frozenset({"pypi.org", "files.pythonhosted.org"})

_URL: Final = re.compile(r"\b[a-z+]+://[^\s\"]+")


def check(root: Path) -> list[str]:
    """Name each foreign host of the lock, with the packages that would come from it."""
    text = (root / "uv.lock").read_text(encoding="utf-8")
    foreign = {urlsplit(url[0]).netloc for url in _URL.finditer(text)} - HOSTS
    packages = cast("list[Mapping[str, object]]", read_toml(root / "uv.lock").get("package", []))
    return [
        f"uv.lock: names the host {host!r} ({_users(host, packages)}); unset the index variables, "
        f"then `uv lock`"
        for host in sorted(foreign)
    ]


def _users(host: str, packages: list[Mapping[str, object]]) -> str:
    names = [str(package["name"]) for package in packages if f"://{host}" in str(package)]
    return ", ".join(sorted(names)) or "outside any package"


GATE: Final = Gate(name="lock", check=check)
