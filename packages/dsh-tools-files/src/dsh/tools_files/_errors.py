"""What these tools refuse: the model reads the message, and can try something else."""

from dsh.agent import ToolError

__all__ = ["FileToolsError"]


class FileToolsError(ToolError):
    """A path, a pattern or a file that these tools do not serve; ``code`` says which kind.

    ``PATH_REFUSED`` (out of the directory, or through a link), ``NOT_FOUND``, ``NOT_READABLE``
    (no regular file, no permission), ``BINARY_FILE``, ``INVALID_PATTERN``, ``SEARCH_TIMEOUT``.
    """

    code = "FILE_TOOLS"
