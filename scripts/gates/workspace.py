"""The members of the workspace, read from their manifests."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, final

PACKAGES: Final = "packages"
"""The folder of the members; `[tool.uv.workspace]` names the same one."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One distribution of the workspace."""

    path: Path
    manifest: Mapping[str, Any]  # parsed TOML, read by key

    @property
    def name(self) -> str:
        """The distribution's name, as its manifest has it: `dsh-subagent-fork`."""
        return cast("str", self.manifest["project"]["name"])

    @property
    def module(self) -> str:
        """The import name: `dsh.subagent_fork`."""
        return "dsh." + self.name.removeprefix("dsh-").replace("-", "_")

    @property
    def source(self) -> Path:
        """The folder of the import package, whether it exists or not."""
        return self.path.joinpath("src", *self.module.split("."))

    @property
    def sources(self) -> list[Path]:
        """Every Python file the distribution ships, sorted."""
        return sorted((self.path / "src").rglob("*.py"))

    @property
    def unfinished(self) -> str:
        """What is missing while it is being built: `[tool.dsh] unfinished`; else empty."""
        tool: Mapping[str, Any] = self.manifest.get("tool", {}).get("dsh", {})
        return str(tool.get("unfinished", ""))

    @property
    def private(self) -> bool:
        """Whether the manifest keeps the distribution from being published."""
        classifiers: list[str] = self.manifest["project"].get("classifiers", [])
        return any(each.startswith("Private ::") for each in classifiers)


State = tuple[tuple[Path, int, int], ...]
"""Files, each with when it was changed and how long it is: the key of what was read from them."""


def state(files: Iterable[Path]) -> State:
    """Return the state *files* are in."""
    found = [(path, path.stat()) for path in files]
    return tuple((path, each.st_mtime_ns, each.st_size) for path, each in found)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the parsed file; a missing or malformed one raises with the path in the message."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error


def members(root: Path) -> list[Member]:
    """Return every member, sorted by folder: a folder under `packages/` with a manifest."""
    manifests = sorted(root.glob(f"{PACKAGES}/*/pyproject.toml"))
    return [Member(path=each.parent, manifest=read_toml(each)) for each in manifests]
