"""Every gate, in the order its line of result is printed: the quick ones first, begun last."""

from typing import Final

import verify_readme_limitations as readme_limitations
from gates import (
    backends,
    decisions,
    dependencies,
    docs,
    exports,
    family,
    guarantees,
    house,
    layers,
    links,
    lock,
    namespace,
    pages,
    tools,
    versions,
)
from gates.gate import Gate

GATES: Final[tuple[Gate, ...]] = (
    namespace.GATE,
    versions.GATE,
    lock.GATE,
    house.GATE,
    readme_limitations.GATE,
    family.GATE,
    links.GATE,
    layers.GATE,
    decisions.GATE,
    guarantees.GATE,
    pages.GATE,
    pages.API,
    dependencies.GATE,
    exports.GATE,
    backends.GATE,
    docs.GATE,
    tools.LINT,
    tools.FORMAT,
    tools.MYPY,
    tools.BASEDPYRIGHT,
)
