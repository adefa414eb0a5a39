import errno
import fcntl
import logging
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from dsh.agent import (
    LogFormatError,
    PartialMessage,
    Session,
    SessionEvent,
    SessionHeader,
    SessionId,
    ToolResulted,
    TurnEnded,
    TurnStarted,
    decode_log,
    encode_event,
    encode_header,
)
from dsh.agent.testing import completed_turn, interrupted_turn
from dsh.session_jsonl import (
    JsonlSessions,
    SessionExistsError,
    SessionLockedError,
    SessionNotFoundError,
    StoreDirectoryError,
    open_sessions,
)
from dsh.session_jsonl._file import LogFile
from dsh.session_jsonl._names import file_name

ID = SessionId("s-1")
HEADER = SessionHeader(id=ID, cwd="/srv", created_at=1)


def new(sessions: JsonlSessions, header: SessionHeader = HEADER) -> Session:
    return Session(header, sink=sessions.create(header, ()))


def extend(session: Session, events: Sequence[SessionEvent]) -> None:
    for event in events:
        session.append(event)


def on_disk(path: Path) -> Sequence[SessionEvent]:
    return decode_log(path.read_bytes()).events


def write(path: Path, events: Sequence[SessionEvent], header: SessionHeader = HEADER) -> bytes:
    lines = [encode_event(seq, event) for seq, event in enumerate(events)]
    data = encode_header(header) + b"".join(lines)
    path.write_bytes(data)
    return data


@pytest.mark.guarantee("B-PER-01")
async def test_no_file_is_made_before_an_event_is_flushed(tmp_path: Path) -> None:
    """A log that nothing was written into leaves nothing on disk."""
    async with open_sessions(tmp_path / "logs") as sessions:
        session = new(sessions)
        await session.flush()
        assert list(sessions.root.iterdir()) == []
        extend(session, completed_turn(1))
        assert list(sessions.root.iterdir()) == []
        await session.flush()
        assert on_disk(sessions.root / "s-1.jsonl") == tuple(session.events)
        sink = sessions.create(SessionHeader(id=SessionId("unused")), ())
        await sink.aclose()
        await sink.aclose()
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["s-1.jsonl"]


async def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    async with open_sessions(root) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1))
        await session.aclose()
    assert stat.S_IMODE((root / "s-1.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE(root.parent.stat().st_mode) == 0o700


@pytest.mark.guarantee("B-PER-06")
async def test_a_log_grows_at_each_flush_and_comes_back_whole(tmp_path: Path) -> None:
    """What a flush has returned from is in the file, and a reload gives the very same log."""
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        for turn in (1, 2, 3):
            extend(session, completed_turn(turn, f"t{turn}"))
            await session.flush()
            assert on_disk(tmp_path / "s-1.jsonl") == tuple(session.events)
        await session.aclose()
        loaded = await sessions.load(ID)
    assert loaded.header == HEADER
    assert list(loaded.events) == list(session.events)
    assert list(loaded.messages) == list(session.messages)


@pytest.mark.guarantee("B-PER-07")
async def test_a_resumed_log_goes_on_where_it_was(tmp_path: Path) -> None:
    """A log that was closed is taken up again at its end, without any repair."""
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1))
        await session.aclose()
        before = (tmp_path / "s-1.jsonl").read_bytes()
        session = await sessions.resume(ID)
        assert (tmp_path / "s-1.jsonl").read_bytes() == before
        extend(session, completed_turn(2))
    assert on_disk(tmp_path / "s-1.jsonl") == tuple(session.events)
    assert len(session.events) == 12


@pytest.mark.guarantee("B-PER-07", "B-PER-08")
async def test_an_id_that_is_taken_is_refused(tmp_path: Path) -> None:
    """A new log cannot have the id of one that exists or is being started."""
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        with pytest.raises(SessionExistsError, match="'s-1' exists"):
            sessions.create(HEADER, ())
        extend(session, completed_turn(1))
        await session.aclose()
        with pytest.raises(SessionExistsError, match=r"s-1\.jsonl: resume it, or choose"):
            sessions.create(HEADER, ())
        with pytest.raises(SessionNotFoundError, match="no session 'other'"):
            await sessions.load(SessionId("other"))


async def test_two_stores_cannot_start_one_log(tmp_path: Path) -> None:
    async with open_sessions(tmp_path) as first, open_sessions(tmp_path) as second:
        one, two = new(first), new(second)
        extend(one, completed_turn(1))
        extend(two, completed_turn(1, "other"))
        await one.flush()
        with pytest.raises(SessionExistsError):
            await two.flush()
        with pytest.raises(SessionExistsError):
            await two.aclose()
    assert on_disk(tmp_path / "s-1.jsonl") == tuple(one.events)


async def test_a_log_has_one_writer(tmp_path: Path) -> None:
    write(tmp_path / "s-1.jsonl", completed_turn(1))
    async with open_sessions(tmp_path) as first, open_sessions(tmp_path) as second:
        session = await first.resume(ID)
        for sessions in (first, second):
            with pytest.raises(SessionLockedError, match="has one writer at a time"):
                await sessions.resume(ID)
            with pytest.raises(SessionLockedError):
                await sessions.load(ID)
        await session.aclose()
        await (await second.resume(ID)).aclose()


async def test_a_log_is_locked_before_its_first_flush(tmp_path: Path) -> None:
    async with open_sessions(tmp_path) as sessions:
        new(sessions)
        with pytest.raises(SessionLockedError):
            await sessions.resume(ID)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("file", "Not a directory"),
        ("file/logs", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("a\0b", "embedded null"),
    ],
)
async def test_a_directory_that_cannot_be_used_is_reported_at_once(
    tmp_path: Path, place: str, reason: str
) -> None:
    (tmp_path / "file").write_text("")
    root = tmp_path / place
    with pytest.raises(StoreDirectoryError, match=f"logs cannot be kept in .*: {reason}"):
        async with open_sessions(root):
            pytest.fail("work began")


@pytest.mark.guarantee("B-PER-03")
async def test_an_interrupted_turn_is_closed_in_the_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Loading closes a turn that was cut off, and the file says so from then on."""
    events = (*completed_turn(1), *interrupted_turn(2))
    write(tmp_path / "s-1.jsonl", events)
    async with open_sessions(tmp_path) as sessions:
        with caplog.at_level(logging.WARNING, "dsh.session_jsonl"):
            first = await sessions.load(ID)
        assert "closed turn 2, which was interrupted" in caplog.text
        second = await sessions.load(ID)
    last = first.events[-1]
    assert isinstance(last, TurnEnded)
    assert last.reason == "interrupted"
    results = [event for event in first.events if isinstance(event, ToolResulted)]
    assert [event.result.call_id for event in results] == ["c1", "c2", "c3"]
    assert tuple(second.events) == tuple(first.events) == on_disk(tmp_path / "s-1.jsonl")


@pytest.mark.field_case("B227")
@pytest.mark.parametrize("torn", [b'{"seq":6,"time":1,"ty', '{"text":"ü'.encode()[:-1]])
async def test_what_is_appended_after_a_torn_line_is_not_glued_to_it(
    tmp_path: Path, torn: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s-1.jsonl"
    path.write_bytes(write(path, completed_turn(1)) + torn)
    async with open_sessions(tmp_path) as sessions:
        with caplog.at_level(logging.WARNING, "dsh.agent"):
            session = await sessions.resume(ID)
        extend(session, completed_turn(2))
        await session.aclose()
        reloaded = await sessions.load(ID)
    assert "dropped a torn last line" in caplog.text
    assert len(reloaded.events) == 12
    assert torn not in path.read_bytes()


@given(st.integers(min_value=0, max_value=10_000))
def test_a_file_cut_anywhere_keeps_its_completed_turns_and_goes_on(place: int) -> None:
    async def main(root: Path) -> None:
        events = (*completed_turn(1), *completed_turn(2), *interrupted_turn(3))
        whole = write(root / "s-1.jsonl", events)
        start = len(encode_header(HEADER))
        cut = whole[: start + place % (len(whole) - start + 1)]
        (root / "s-1.jsonl").write_bytes(cut)
        async with open_sessions(root) as sessions:
            session = await sessions.resume(ID)
            assert session.turns >= sum(b'"turn/end"' in line for line in cut.split(b"\n")[:-1])
            extend(session, completed_turn(session.turns + 1, "after"))
            await session.aclose()
            again = await sessions.load(ID)
            assert tuple(again.events) == tuple(session.events)

    with TemporaryDirectory() as root:
        trio.run(main, Path(root))


@pytest.mark.guarantee("B-PER-03")
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"seq":2', b'"seq":3', r"s-1\.jsonl:4: has event 3 where"),
        (b'"version":1', b'"version":0', "has format version 0"),
        (b'"id":"s-1"', b'"id":"s-2"', "holds session 's-2', not 's-1'"),
        (b'"turn":1}', b'"turn":4}', ":2: not a legal log: event 0"),
        (b"{", b"[", ":1: is not JSON"),
        (b"", b"", "nothing was ever committed"),
        (b',"created_at"', b',"seed_length":4,"created_at"', ":1: the seed ends inside turn 1"),
    ],
    ids=["gap", "version", "other", "illegal", "damage", "empty", "seed"],
)
async def test_other_damage_is_refused_and_the_file_left_alone(
    tmp_path: Path, old: bytes, new: bytes, message: str
) -> None:
    """A gap, a parse error before the end, or another version is never repaired away."""
    path = tmp_path / "s-1.jsonl"
    data = write(path, completed_turn(1)).replace(old, new, 1) if old else b""
    path.write_bytes(data)
    async with open_sessions(tmp_path) as sessions:
        with pytest.raises(LogFormatError, match=message):
            await sessions.load(ID)
        assert path.read_bytes() == data
        path.unlink()


@pytest.mark.guarantee("B-PER-04")
async def test_listing_reads_first_lines_and_skips_what_is_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A list of logs tells their lineage without reading them, damaged ones excepted."""
    child = SessionHeader(
        id=SessionId("kid"), parent_session=ID, seed_length=6, cwd="/srv", created_at=0
    )
    write(tmp_path / "s-1.jsonl", completed_turn(1))
    (tmp_path / "kid.jsonl").write_bytes(encode_header(child) + b"never read")
    (tmp_path / "bad.jsonl").write_bytes(b"\xff")
    (tmp_path / "dir.jsonl").mkdir()
    (tmp_path / "notes.txt").write_text("")
    async with open_sessions(tmp_path) as sessions:
        with caplog.at_level(logging.WARNING, "dsh.session_jsonl"):
            assert await sessions.list() == (child, HEADER)
    assert "bad.jsonl:1: is not JSON" in caplog.text
    assert "dir.jsonl" in caplog.text


@pytest.mark.guarantee("B-PER-09")
async def test_a_forked_log_is_complete_in_itself(tmp_path: Path) -> None:
    """A child's file holds what it inherited, and says where its own events begin."""
    async with open_sessions(tmp_path) as sessions:
        parent = new(sessions)
        extend(parent, completed_turn(1))
        prefix = parent.completed_prefix()
        assert prefix is not None
        header = SessionHeader(id=SessionId("kid"), parent_session=ID, seed_length=6)
        child = Session(header, seed=prefix, sink=sessions.create(header, prefix.events))
        extend(parent, completed_turn(2))
        extend(child, completed_turn(2, "task"))
        await child.aclose()
        loaded = await sessions.load(SessionId("kid"))
    assert loaded.header.seed_length == 6
    assert list(loaded.own_events) == list(child.own_events)
    assert list(loaded.events) == list(child.events)


@pytest.mark.guarantee("B-PER-08")
def test_file_names_are_safe_and_one_to_one() -> None:
    """Whatever an id is, its file name is plain, and no two ids share one."""
    ids = ["a", "A", "../etc/passwd", ".", "..", "a/b", "a%2fb", "ü", "\ud83d", "😀", "a b", "\0"]
    ids += ["x" * 300, "x" * 301, "x" * 200 + "y" * 100, "con", "~"]
    names = [file_name(SessionId(each)) for each in ids]
    assert len(set(names)) == len(ids)
    for name in names:
        assert name.isascii()
        assert len(name) < 255
        assert not set(name) & set('/\\:*?"<>| ')
        assert not name.startswith(".")
    assert file_name(SessionId("../x")) == "%2e%2e%2fx.jsonl"


@pytest.mark.guarantee("B-PER-02", "B-PER-05")
async def test_a_flush_that_fails_leaves_the_file_and_keeps_the_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is written whole or not at all, and what failed is written by the next flush."""
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1))
        await session.flush()
        before = (tmp_path / "s-1.jsonl").read_bytes()
        extend(session, completed_turn(2))
        pwrite = os.pwrite

        def full(descriptor: int, size: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        def half(descriptor: int, data: memoryview, position: int) -> int:
            if position > len(before):
                raise OSError(errno.ENOSPC, "No space left on device")
            return pwrite(descriptor, data[:40], position)

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", half)
            with pytest.raises(OSError, match="No space left"):
                await session.flush()
            assert (tmp_path / "s-1.jsonl").read_bytes() == before
            patch.setattr(os, "ftruncate", full)
            with pytest.raises(OSError, match="No space left"):
                await session.flush()
            assert len((tmp_path / "s-1.jsonl").read_bytes()) == len(before) + 40
        extend(session, completed_turn(3))
        await session.flush()
        assert on_disk(tmp_path / "s-1.jsonl") == tuple(session.events)


async def test_a_first_flush_that_fails_is_made_good_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: memoryview, position: int) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1))
        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", full)
            with pytest.raises(OSError, match="No space left"):
                await session.flush()
        assert (tmp_path / "s-1.jsonl").read_bytes() == b""
        await session.flush()
        assert on_disk(tmp_path / "s-1.jsonl") == tuple(session.events)


async def test_a_relative_directory_in_a_working_directory_that_was_removed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(StoreDirectoryError, match="cannot be kept in logs: No such file"):
        async with open_sessions("logs"):
            pass


async def test_a_log_that_was_removed_under_its_writer_fails_the_flush(tmp_path: Path) -> None:
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1))
        await session.flush()
        (tmp_path / "s-1.jsonl").unlink()
        extend(session, completed_turn(2))
        for ending in (session.flush, session.aclose):
            with pytest.raises(FileNotFoundError, match=r"it was removed: '.*s-1\.jsonl'"):
                await ending()
    assert not (tmp_path / "s-1.jsonl").exists()


@pytest.mark.guarantee("B-PER-05")
async def test_flushes_of_one_log_follow_each_other(tmp_path: Path) -> None:
    """However many tasks flush a log, its events are written once and in order."""
    async with open_sessions(tmp_path, fsync=True) as sessions:
        session = new(sessions)
        async with trio.open_nursery() as nursery:
            for turn in range(1, 6):
                extend(session, completed_turn(turn))
                nursery.start_soon(session.flush)
                nursery.start_soon(session.flush)
    assert on_disk(tmp_path / "s-1.jsonl") == tuple(session.events)


@pytest.mark.guarantee("B-PER-05")
async def test_leaving_writes_every_open_log_and_collects_what_fails(tmp_path: Path) -> None:
    """Leaving the store flushes all logs, and one that cannot be written does not keep others."""
    with pytest.RaisesGroup(SessionExistsError, SessionExistsError):
        async with open_sessions(tmp_path) as sessions:
            for name in ("a", "b", "c"):
                session = new(sessions, SessionHeader(id=SessionId(name)))
                extend(session, completed_turn(1))
            for name in ("a", "b"):
                (tmp_path / f"{name}.jsonl").touch()
    assert len(on_disk(tmp_path / "c.jsonl")) == 6


async def leave_a_log_that_cannot_be_closed(root: Path, error: Exception | None = None) -> None:
    async with open_sessions(root) as sessions:
        new(sessions).append(TurnStarted(turn=1))
        (root / "s-1.jsonl").touch()
        if error is not None:
            raise error


async def test_a_single_failure_of_leaving_is_raised_bare(tmp_path: Path) -> None:
    with pytest.raises(SessionExistsError):
        await leave_a_log_that_cannot_be_closed(tmp_path)


async def test_the_error_of_the_block_is_the_one_that_is_raised(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ZeroDivisionError):
        await leave_a_log_that_cannot_be_closed(tmp_path, ZeroDivisionError())
    assert "a log could not be closed" in caplog.text


async def test_leaving_a_cancelled_block_still_writes(tmp_path: Path) -> None:
    with trio.CancelScope() as scope:
        async with open_sessions(tmp_path) as sessions:
            extend(new(sessions), completed_turn(1))
            scope.cancel()
            await trio.lowlevel.checkpoint()
    assert len(on_disk(tmp_path / "s-1.jsonl")) == 6


@pytest.mark.field_case("B226", "B229")
async def test_no_text_breaks_the_file(tmp_path: Path) -> None:
    text = "a\u2028b\x85c\x0bd\x1ce\rf\ud800g"
    async with open_sessions(tmp_path) as sessions:
        session = new(sessions)
        extend(session, completed_turn(1, text)[:3])
        session.append(PartialMessage(text=text))
        extend(session, completed_turn(1, text)[4:])
        await session.aclose()
        (tmp_path / "s-1.jsonl").read_text(encoding="utf-8")
        assert list((await sessions.load(ID)).events) == list(session.events)


def test_a_file_that_cannot_be_locked_is_closed_again(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    first = LogFile.create(ID, path, fsync=False)
    count = len(os.listdir("/dev/fd"))
    with pytest.raises(SessionLockedError):
        LogFile.open(ID, path, fsync=False)
    assert len(os.listdir("/dev/fd")) == count
    first.close()
    assert not path.exists()


def test_where_files_cannot_be_locked_no_new_one_stays_and_none_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unlockable(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    old = tmp_path / "old.jsonl"
    old.touch()
    count = len(os.listdir("/dev/fd"))
    monkeypatch.setattr(fcntl, "flock", unlockable)
    with pytest.raises(OSError, match="No locks available"):
        LogFile.create(ID, tmp_path / "new.jsonl", fsync=False)
    with pytest.raises(OSError, match="No locks available"):
        LogFile.open(ID, old, fsync=False)
    assert list(tmp_path.iterdir()) == [old]
    assert len(os.listdir("/dev/fd")) == count
