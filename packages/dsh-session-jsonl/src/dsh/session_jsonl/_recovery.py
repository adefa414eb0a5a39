"""Loads a log and repairs it where its writer was cut off. Blocks: it runs in a thread."""

import logging
from pathlib import Path

from dsh.agent import (
    LogFormatError,
    SeedError,
    Session,
    SessionHeader,
    SessionId,
    SessionSink,
    decode_header,
    decode_log,
    encode_event,
    interrupted_turn_closers,
)
from dsh.session_jsonl._file import LogFile
from dsh.session_jsonl._names import SUFFIX

__all__ = ["list_headers", "recover"]

logger = logging.getLogger("dsh.session_jsonl")

_LONGEST_HEADER = 1 << 20


def recover(id: SessionId, file: LogFile, sink: SessionSink | None) -> Session:
    """The session in *file*, which afterwards holds exactly its log; *sink* hears what follows.

    A torn last line is cut off, and a turn that was interrupted is closed, in the file too.

    Raises:
      LogFormatError: the file is damaged elsewhere, of another format, not a legal log, or
        another session's; it was not touched.
    """
    source = str(file.path)
    log = decode_log(file.read(), source=source)
    if log.header.id != id:
        raise LogFormatError(source, 1, f"holds session {log.header.id!r}, not {id!r}")
    closers = interrupted_turn_closers(log.events)
    try:
        session = Session.resumed(log.header, (*log.events, *closers), sink=sink)
    except SeedError as exc:
        line = 1 if exc.seq is None else exc.seq + 2
        raise LogFormatError(source, line, str(exc)) from exc
    if log.size != file.size:
        file.cut(log.size)
    lines = [encode_event(seq, event) for seq, event in enumerate(closers, start=len(log.events))]
    repair = b"".join([b"\n" if log.unterminated else b"", *lines])
    if repair:
        file.commit(repair)
    if closers:
        logger.warning("%s: closed turn %d, which was interrupted", source, session.turns)
    return session


def list_headers(root: Path) -> tuple[SessionHeader, ...]:
    """The header of every log in *root*, oldest first; a file without one is skipped, and named."""
    headers: list[SessionHeader] = []
    for path in sorted(root.glob(f"*{SUFFIX}")):
        try:
            with path.open("rb") as file:
                line = file.readline(_LONGEST_HEADER)
            headers.append(decode_header(line, source=str(path)))
        except (LogFormatError, OSError) as exc:
            logger.warning("skipped a file that is no log: %s", exc)
    return tuple(sorted(headers, key=lambda header: header.created_at))
