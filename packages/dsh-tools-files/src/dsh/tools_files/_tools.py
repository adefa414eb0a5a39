"""The three tools as a model sees them."""

import os
from typing import Annotated

from pydantic import Field

from dsh.agent import Tool, tool
from dsh.tools_files._confined import ConfinedDirectory
from dsh.tools_files._listing import listing
from dsh.tools_files._reading import text_of
from dsh.tools_files._searching import matches

__all__ = ["file_tools"]


def file_tools(directory: str | os.PathLike[str]) -> tuple[Tool, ...]:
    """``list_files``, ``read_file`` and ``search_files``, for what is under *directory* only.

    They read and never write, run in threads, may run at once, and can be cancelled.

    Raises:
      NotADirectoryError, FileNotFoundError: *directory* is no directory.
    """
    confined = ConfinedDirectory(directory)

    @tool(concurrent=True)
    def list_files(path: str = ".", recursive: bool = False) -> str:
        """List the files and directories in a directory.

        Paths are relative, with slashes. A directory ends in a slash, a file has its size.
        """
        return listing(confined, path, recursive=recursive)

    @tool(concurrent=True)
    def read_file(
        path: str,
        first_line: Annotated[int, Field(ge=1)] = 1,
        lines: Annotated[int, Field(ge=1, description="how many lines, all by default")]
        | None = None,
    ) -> str:
        """Read a text file, or a range of its lines.

        Long files come in parts: a notice at the end says where to go on.
        """
        return text_of(confined, path, first_line=first_line, lines=lines)

    @tool(concurrent=True)
    def search_files(
        pattern: Annotated[str, Field(description="a regular expression, matched line by line")],
        path: str = ".",
        glob: Annotated[str, Field(description="which files, by name or path, like *.py")] = "*",
        ignore_case: bool = False,
    ) -> str:
        """Search the text files under a directory for the lines that match a pattern."""
        return matches(confined, pattern, path, glob=glob, ignore_case=ignore_case)

    return (list_files, read_file, search_files)
