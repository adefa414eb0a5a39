"""The driver of in-process children; a library, it registers nothing.

Read ``_driver`` (a child's life) and ``_reading`` (what its answer is).
"""

from dsh.subagent_inprocess._driver import serve_child

__all__ = ["serve_child"]
