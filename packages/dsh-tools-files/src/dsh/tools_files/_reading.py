"""Reading a part of a file."""

import codecs
from collections.abc import Iterator
from typing import BinaryIO, Final

import trio

from dsh.tools_files._confined import ConfinedDirectory
from dsh.tools_files._errors import FileToolsError

__all__ = ["is_binary", "numbered_lines", "text_of"]

MAX_CHARS: Final = 50_000
"""How much of a file one call shows."""

MAX_LINE_CHARS: Final = 2_000
"""How much of a line is shown; as many bytes of it are looked at."""

_SNIFFED_BYTES: Final = 8_192


def text_of(directory: ConfinedDirectory, path: str, *, first_line: int, lines: int | None) -> str:
    """Lines of the file at *path*, with a notice of what is not shown or not as it is.

    Raises:
      FileToolsError: there is no such file, it is binary, or it has no such line.
    """
    with directory.file(path) as file:
        if is_binary(file):
            raise FileToolsError(f"{path!r} is a binary file", code="BINARY_FILE")
        shown, notice, last = list[str](), "", 0
        size = 0
        for number, line, rest in numbered_lines(file):
            last = number
            if number < first_line:
                continue
            if rest:
                line += f" [line cut: bytes left out: {rest}]"
            if len(shown) == lines or (size := size + len(line) + 1) > MAX_CHARS:
                notice = f"[the file goes on: continue with first_line={number}]"
                break
            shown.append(line)
    if first_line > max(last, 1):
        raise FileToolsError(
            f"{path!r} has only {last} line{'' if last == 1 else 's'}", code="NOT_FOUND"
        )
    if any("\ufffd" in line for line in shown):
        notice += "[bytes that are not UTF-8 are shown as \ufffd]"
    return "\n".join([*shown, notice] if notice else shown) or "[the file is empty]"


def is_binary(file: BinaryIO) -> bool:
    """Whether there is a null byte near the start of *file*, which is then at its start again."""
    start = file.read(_SNIFFED_BYTES)
    file.seek(0)
    return b"\0" in start


def numbered_lines(file: BinaryIO) -> Iterator[tuple[int, str, int]]:
    """The lines of *file* from 1, decoded, and how many bytes were cut off of each.

    Looks for cancellation at each line.
    """
    number = 0
    while chunk := file.readline(MAX_LINE_CHARS):
        trio.from_thread.check_cancelled()
        number += 1
        rest = 0
        while not chunk.endswith(b"\n") and (more := file.readline(MAX_LINE_CHARS)):
            trio.from_thread.check_cancelled()
            rest += len(more)
            if more.endswith(b"\n"):
                break
        # A character that the cut went through is dropped, not shown as broken.
        text, _ = codecs.utf_8_decode(chunk, "replace", not rest)
        yield number, text.removesuffix("\n").removesuffix("\r"), rest
