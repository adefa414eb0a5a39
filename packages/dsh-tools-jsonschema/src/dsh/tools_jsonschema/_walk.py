"""The one walk over untrusted structures: depth first, without recursion, aware of cycles.

The walk owns the stack, the path, the budget and the findings; what a node means is decided by
the *visit* function it is given: `_data` looks at JSON data, `_subset` at schemas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias, final

from dsh.tools_jsonschema._quote import Segment, path_text

Child: TypeAlias = tuple[tuple[Segment, ...], object]
"""Where a child hangs on its parent, and the child."""

Visit: TypeAlias = Callable[["Walk", object], Iterator[Child]]
"""Report what is wrong with a node and yield the children to descend to, lazily and in order."""


@final
class Walk:
    """One walk from one root.

    It looks at so many nodes at most, shared ones counted at every place they are reached: that
    is what stops a few kilobytes of shared lists from standing for 2**100 values.

    Attributes:
        findings: The violations so far, in walk order.
        path: The segments from the root to the node being visited.
        level: How many nodes lie on that path, the node itself included.
        deepest: The greatest level reached.
    """

    def __init__(self, root: str, *, most_nodes: int, most_findings: int | None = None) -> None:
        self.findings: list[str] = []
        self.path: list[Segment] = []
        self.level = 0
        self.deepest = 0
        self._root = root
        self._room = most_findings
        self._most_nodes = most_nodes
        self._nodes = 0

    @property
    def is_full(self) -> bool:
        """Whether as many violations were found as may be listed."""
        return self._room is not None and len(self.findings) >= self._room

    def where(self, *segments: Segment) -> str:
        """Return the path of the node being visited, or of a place below it."""
        return path_text(self._root, [*self.path, *segments])

    def report(self, problem: str, *segments: Segment) -> None:
        """Note what is wrong at the node being visited, or at a place below it."""
        if not self.is_full:
            self.findings.append(f"{self.where(*segments)}: {problem}")

    def spend(self, nodes: int) -> None:
        """Count nodes that the visit function looks at without descending to them."""
        self._nodes += nodes

    def over(self, root: object, visit: Visit) -> None:
        """Visit *root* and everything below it."""
        ancestors = {id(root): None}
        lengths = [0]
        pending = [visit(self, root)]
        self.level = self.deepest = 1
        while pending:
            child = next(pending[-1], None)
            if child is None:
                pending.pop()
                ancestors.popitem()
                del self.path[len(self.path) - lengths.pop() :]
                self.level -= 1
                continue
            segments, node = child
            self._nodes += 1
            if self._nodes > self._most_nodes or self.is_full:
                break
            if id(node) in ancestors:
                self.report("contains itself", *segments)
                continue
            ancestors[id(node)] = None
            lengths.append(len(segments))
            self.path += segments
            pending.append(visit(self, node))
            self.level += 1
            self.deepest = max(self.deepest, self.level)
        self.path.clear()
        if self._nodes > self._most_nodes:
            self.report(
                f"has more than {self._most_nodes} parts, shared ones counted wherever they occur"
            )
