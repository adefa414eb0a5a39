"""Every gate, in the order its line of result is printed: the quick ones first."""

from typing import Final

from gates import layers, namespace
from gates.gate import Gate

GATES: Final[tuple[Gate, ...]] = (namespace.GATE, layers.GATE)
