"""File names for arbitrary ids."""

from hashlib import sha256
from typing import Final

from dsh.agent import SessionId

__all__ = ["SUFFIX", "file_name"]

SUFFIX: Final = ".jsonl"

_SAFE: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
_LONGEST: Final = 200
"""Well below the 255 bytes that file systems allow."""


def file_name(id: SessionId) -> str:
    """The name of the file that holds session *id*: one to one, and safe on any file system.

    Everything but lower-case letters, digits, ``-`` and ``_`` is written as ``%`` and two digits
    (upper case too, since some file systems do not tell it apart). A name that would be too long
    ends in ``~`` and the id's digest instead.
    """
    data = id.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in _SAFE else f"%{byte:02x}" for byte in data)
    if len(name) > _LONGEST:
        name = f"{name[: _LONGEST - 65]}~{sha256(data).hexdigest()}"
    return name + SUFFIX
