"""Listing a directory."""

from typing import Final

import trio

from dsh.tools_files._confined import ConfinedDirectory, Entry

__all__ = ["listing"]

MAX_ENTRIES: Final = 1_000


def listing(directory: ConfinedDirectory, path: str, *, recursive: bool) -> str:
    """One line for each entry, with a notice where there are more."""
    lines: list[str] = []
    for entry in directory.walk(path, recursive=recursive):
        trio.from_thread.check_cancelled()
        if len(lines) == MAX_ENTRIES:
            lines.append(f"[only the first {MAX_ENTRIES} entries are shown; list a part of them]")
            break
        lines.append(_line(entry))
    return "\n".join(lines) or "[the directory is empty]"


def _line(entry: Entry) -> str:
    if entry.is_directory:
        return f"{entry.shown}/ [not entered]" if entry.is_skipped else f"{entry.shown}/"
    if entry.is_file:
        size = entry.status.st_size
        return f"{entry.shown} ({size} byte{'' if size == 1 else 's'})"
    return f"{entry.shown} [not a regular file]"
