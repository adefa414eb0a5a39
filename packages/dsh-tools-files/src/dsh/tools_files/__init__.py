"""Read-only file tools confined to one directory, for agents.

``file_tools`` makes the three of them. Read ``_confined`` first, where every path is opened, then
``_listing``, ``_reading`` and ``_searching``, and ``_tools``, which ties them to models.
"""

from dsh.tools_files._errors import FileToolsError
from dsh.tools_files._tools import file_tools

__all__ = ["FileToolsError", "file_tools"]
