"""Which await points a package has, and which of them a sweep saw a task suspended at."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import final

from dsh.agent.testing._counter import Suspensions

__all__ = ["AwaitPoint", "AwaitShare", "await_share"]


@final
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class AwaitPoint:
    """An ``await``, ``async with`` or ``async for`` in a source file, and ``what`` of these it is.

    ``path``, ``line`` (from 1) and ``column`` (from 0) say where.
    """

    path: str
    line: int
    column: int
    what: str

    def __str__(self) -> str:
        return f"{Path(self.path).name}:{self.line} {self.what}"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitShare:
    """How much of some packages a sweep could cancel: of ``points`` all but ``missed``.

    One counts as reached when a task was seen suspended there.
    """

    points: int
    missed: tuple[AwaitPoint, ...]

    @property
    def share(self) -> float:
        """From 0 to 1; 1 where there is no await point at all."""
        return 1 - len(self.missed) / self.points if self.points else 1.0

    def __or__(self, other: "AwaitShare") -> "AwaitShare":
        """What two sweeps of the same packages reached together."""
        missed = tuple(point for point in self.missed if point in other.missed)
        return AwaitShare(points=self.points, missed=missed)

    def __str__(self) -> str:
        return f"{self.points - len(self.missed)} of {self.points} await points ({self.share:.0%})"


def await_share(packages: Iterable[str], seen: Suspensions) -> AwaitShare:
    """Compare the await points of *packages* (import names) with where frames were suspended.

    Raises:
      ModuleNotFoundError: there is no such package.
    """
    points: set[AwaitPoint] = set()
    reached: set[AwaitPoint] = set()
    for path in (path for package in packages for path in _sources(package)):
        spans = _spans(path)
        points.update(point for point, _ in spans)
        for line, column in _suspended(path, seen):
            exact = [p for p, _ in spans if (p.line, p.column) == (line, column)]
            header = [p for p, lines in spans if p.what != "await" and line in lines]
            reached.update(exact or header[-1:])
    return AwaitShare(points=len(points), missed=tuple(sorted(points - reached)))


def _sources(package: str) -> Iterator[str]:
    spec = find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"no package named {package!r}", name=package)
    for folder in spec.submodule_search_locations or ():
        yield from (str(path) for path in sorted(Path(folder).rglob("*.py")))
    if not spec.submodule_search_locations and spec.origin is not None:
        yield spec.origin


def _spans(path: str) -> list[tuple[AwaitPoint, range]]:
    """Every await point of a file with the lines of its header."""
    spans: list[tuple[AwaitPoint, range]] = []
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"), path)):
        match node:
            case ast.Await():
                what, last = "await", node.end_lineno
            case ast.AsyncWith():
                what, last = "async with", node.items[-1].context_expr.end_lineno
            case ast.AsyncFor():
                what, last = "async for", node.iter.end_lineno
            case _:
                continue
        point = AwaitPoint(path=path, line=node.lineno, column=node.col_offset, what=what)
        spans.append((point, range(node.lineno, (last or node.lineno) + 1)))
    return spans


def _suspended(path: str, seen: Suspensions) -> Iterator[tuple[int, int]]:
    """Line and column of the expressions of *path* that frames were suspended in."""
    for (_, offset), code in seen.items():
        if code.co_filename == path and offset >= 0:
            # two bytes per instruction; the position is that of the await expression itself
            line, _, column, _ = list(code.co_positions())[offset // 2]
            if line is not None and column is not None:
                yield line, column
