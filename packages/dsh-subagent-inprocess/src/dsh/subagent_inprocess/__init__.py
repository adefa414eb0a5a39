"""The driver of in-process children, shared by spawn and fork; it registers nothing.

In which order to read it:

- `_driver`: a child's life, step by step.
- `_parent`: whose child it is; `_depth` and `_options`: how deep it lies, how it calls its model;
  `_inheritance`: what it takes over from its parent; `_composition`: what sets it apart before
  anybody sees it.
- `_capture`: when a structured answer counts; `_structured`: the tool that takes it. `_prose` and
  the ``.md`` files are what its model reads.
- `_reading`: what its answer is, and why it ended. `_tap`: what is told while it works.
- `_config`: what the configuration of both backends has in common.
"""

from dsh.subagent_inprocess._capture import STRUCTURED_OUTPUT_TOOL
from dsh.subagent_inprocess._config import InProcessConfig
from dsh.subagent_inprocess._driver import serve_child
from dsh.subagent_inprocess._inheritance import FRESH, Inheritance
from dsh.subagent_inprocess._parent import parent_in

__all__ = [
    "FRESH",
    "STRUCTURED_OUTPUT_TOOL",
    "InProcessConfig",
    "Inheritance",
    "parent_in",
    "serve_child",
]
