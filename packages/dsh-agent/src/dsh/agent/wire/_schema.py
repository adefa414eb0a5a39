"""A schema lowered for providers whose dialect lacks ``$ref`` and ``const``."""

from collections.abc import Mapping
from typing import Final, cast, final

from dsh.agent._json import thaw_json
from dsh.agent._model import ModelError

__all__ = ["lower_schema"]

MAX_NODES: Final = 20_000
"""How large inlining may make a schema; small ones can be written that unfold without end."""

ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
DATA: Final = frozenset({"enum", "default", "examples"})
SCHEMAS_BY_NAME: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})


def lower_schema(schema: Mapping[str, object], *, where: str) -> dict[str, object]:
    """*schema* with every local reference inlined and every ``const`` written as a one-value enum.

    It accepts exactly what *schema* accepts. The original is left as it is, and remains what values
    are validated against. *where* names it in errors.

    Raises:
      ModelError: a reference leads nowhere or to itself, or inlining makes the schema too large
        (``INVALID_REQUEST``).
    """
    root = cast("dict[str, object]", thaw_json(schema))
    return cast("dict[str, object]", _Lowering(root, where).lower(root, ()))


@final
class _Lowering:
    def __init__(self, root: dict[str, object], where: str) -> None:
        self._root = root
        self._where = where
        self._nodes = 0

    def lower(self, node: object, following: tuple[str, ...]) -> object:
        """*node* lowered; *following* are the references that led to it."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._refused(f"has more than {MAX_NODES} parts once references are inlined")
        if isinstance(node, list):
            return [self.lower(item, following) for item in cast("list[object]", node)]
        if not isinstance(node, dict):
            return node
        found = cast("dict[str, object]", node)
        lowered = {
            keyword: self._value(keyword, value, following)
            for keyword, value in found.items()
            if keyword not in ("$defs", "definitions", "$ref", "const")
        }
        if "const" in found:
            lowered["enum"] = [found["const"]]
        if "$ref" in found:
            return self._inlined(str(found["$ref"]), lowered, following)
        return lowered

    def _value(self, keyword: str, value: object, following: tuple[str, ...]) -> object:
        if keyword in DATA:
            return value
        if keyword in SCHEMAS_BY_NAME and isinstance(value, dict):
            named = cast("dict[str, object]", value)
            return {name: self.lower(child, following) for name, child in named.items()}
        return self.lower(value, following)

    def _inlined(
        self, reference: str, beside: dict[str, object], following: tuple[str, ...]
    ) -> dict[str, object]:
        if reference in following:
            raise self._refused(f"refers to itself ({reference}), which cannot be inlined")
        lowered = self.lower(self._target(reference), (*following, reference))
        target = cast("dict[str, object]", lowered if isinstance(lowered, dict) else {})
        both = target.keys() & beside.keys() - ANNOTATIONS
        if any(target[keyword] != beside[keyword] for keyword in both):
            return {**beside, "allOf": [target]}
        return {**target, **beside}

    def _target(self, reference: str) -> object:
        if not reference.startswith("#/"):
            raise self._refused(f"refers to {reference!r}; only parts of itself can be inlined")
        node = cast("object", self._root)
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(node, dict) or name not in node:
                raise self._refused(f"refers to {reference!r}, which it does not have")
            node = cast("dict[str, object]", node)[name]
        return node

    def _refused(self, problem: str) -> ModelError:
        return ModelError(f"the schema of {self._where} {problem}", code="INVALID_REQUEST")
