"""The file tools: what they show, and that nothing leads out of their directory."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsh.agent import TextBlock, ToolCallBlock, ToolExecution, ToolRegistry, ToolResult
from dsh.tools_files import FileToolsError, file_tools
from dsh.tools_files._confined import ConfinedDirectory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project, beside a secret that is none of it."""
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "main.py").write_text("import os\n\nprint('hello')\n")
    (project / "README.md").write_text("# Hello\n")
    (tmp_path / "secret.txt").write_text("hello from outside\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("hello from outside\n")
    return project


async def use(root: Path, name: str, **arguments: Any) -> ToolResult:
    registry = ToolRegistry()
    for each in file_tools(root):
        registry.register(each)
    call = ToolCallBlock(id="1", name=name, arguments=json.dumps(arguments))
    return await registry.execute(call)


async def shown(root: Path, name: str, **arguments: Any) -> str:
    result = await use(root, name, **arguments)
    assert not result.is_error, result
    return text_of(result)


async def refused(root: Path, name: str, **arguments: Any) -> str:
    result = await use(root, name, **arguments)
    assert result.is_error, result
    assert "outside" not in text_of(result)
    return text_of(result)


def text_of(result: ToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextBlock)
    return block.text


def test_the_directory_must_be_one(root: Path) -> None:
    with pytest.raises(FileNotFoundError):
        file_tools(root / "nope")
    with pytest.raises(NotADirectoryError):
        file_tools(root / "README.md")


async def test_what_is_refused_is_a_typed_error_in_python_too(root: Path) -> None:
    read_file = file_tools(root)[1]
    execution = ToolExecution(call_id="1", name="read_file", arguments={}, text='{"path": ".."}')
    with pytest.raises(FileToolsError, match="upwards") as refused:
        await read_file.execute(execution)
    assert refused.value.code == "PATH_REFUSED"


async def test_a_directory_is_listed_by_name(root: Path) -> None:
    assert await shown(root, "list_files") == "README.md (8 bytes)\nsrc/"
    assert await shown(root, "list_files", path="src/") == "src/main.py (26 bytes)"
    whole = "README.md (8 bytes)\nsrc/\nsrc/main.py (26 bytes)"
    assert await shown(root, "list_files", path="./", recursive=True) == whole


async def test_one_of_a_thing_is_told_in_the_singular(root: Path) -> None:
    (root / "src" / "short").write_text("x")
    assert "src/short (1 byte)\n" in await shown(root, "list_files", path="src") + "\n"
    refusal = await refused(root, "read_file", path="src/short", first_line=2)
    assert "has only 1 line" in refusal
    assert "1 lines" not in refusal


async def test_a_long_listing_is_cut_and_says_so(root: Path) -> None:
    many = root / "many"
    many.mkdir()
    for index in range(1_005):
        (many / f"{index:04}").touch()
    lines = (await shown(root, "list_files", path="many")).splitlines()
    assert len(lines) == 1_001
    assert lines[-1].startswith("[only the first 1000 entries")
    (root / "empty").mkdir()
    assert await shown(root, "list_files", path="empty") == "[the directory is empty]"


async def test_a_file_is_read_whole_or_by_lines(root: Path) -> None:
    assert await shown(root, "read_file", path="src/main.py") == "import os\n\nprint('hello')"
    part = await shown(root, "read_file", path="src/main.py", first_line=2, lines=1)
    assert part == "\n[the file goes on: continue with first_line=3]"
    rest = await shown(root, "read_file", path="src/main.py", first_line=3)
    assert rest == "print('hello')"
    assert "has only 3 lines" in await refused(root, "read_file", path="src/main.py", first_line=4)
    (root / "empty").touch()
    assert await shown(root, "read_file", path="empty") == "[the file is empty]"


async def test_a_long_file_comes_in_parts_that_join_to_the_whole(root: Path) -> None:
    lines = [f"line {number} {'x' * 40}" for number in range(1, 5_001)]
    (root / "long").write_text("\n".join(lines))
    got: list[str] = []
    position = 1
    while position:
        *part, last = (await shown(root, "read_file", path="long", first_line=position)).split("\n")
        more = re.fullmatch(r"\[the file goes on: continue with first_line=(\d+)\]", last)
        position = int(more[1]) if more else 0
        got += part if more else [*part, last]
        assert sum(map(len, part)) <= 50_000
    assert got == lines


async def test_a_long_line_is_cut_and_says_by_how_much(root: Path) -> None:
    (root / "wide").write_text("é" * 10_000 + "\nnext\n", encoding="utf-8")
    first, second = (await shown(root, "read_file", path="wide")).split("\n")
    assert first == "é" * 1_000 + " [line cut: bytes left out: 18001]"
    assert second == "next"


async def test_binary_files_are_refused_and_broken_text_is_shown_as_such(root: Path) -> None:
    (root / "image").write_bytes(b"\x89PNG\0\0")
    assert "is a binary file" in await refused(root, "read_file", path="image")
    (root / "latin").write_bytes(b"caf\xe9\r\n")
    text = await shown(root, "read_file", path="latin")
    assert text == "caf\ufffd\n[bytes that are not UTF-8 are shown as \ufffd]"


async def test_a_search_finds_lines_by_pattern_and_glob(root: Path) -> None:
    found = "README.md:1: # Hello\nsrc/main.py:3: print('hello')"
    assert await shown(root, "search_files", pattern="hello", ignore_case=True) == found
    assert await shown(root, "search_files", pattern="h.l+o") == "src/main.py:3: print('hello')"
    assert await shown(root, "search_files", pattern="Hello", glob="*.py") == "[no line matches]"
    assert await shown(root, "search_files", pattern="^import", path="src", glob="src/*.py") == (
        "src/main.py:1: import os"
    )


async def test_a_search_is_bounded_and_says_what_it_left_out(root: Path) -> None:
    (root / "many").write_text("hit\n" * 500)
    lines = (await shown(root, "search_files", pattern="hit")).splitlines()
    assert lines[-1] == "[only the first 200 matches are shown; narrow the search]"
    assert len(lines) == 201
    (root / "image").write_bytes(b"hit\0")
    text = await shown(root, "search_files", pattern="hit", glob="image")
    assert text == "[no line matches]\n[not searched, binary or not readable: 1]"
    (root / "wide").write_text("y" * 1_000)
    (line,) = (await shown(root, "search_files", pattern="y{9}", glob="wide")).splitlines()
    assert line == "wide:1: " + "y" * 300 + "…"


async def test_a_search_never_matches_the_notice_that_a_line_was_cut(root: Path) -> None:
    (root / "wide").write_text("y" * 10_000)
    assert await shown(root, "search_files", pattern="line cut", glob="wide") == "[no line matches]"


@pytest.fixture
def odd_names(root: Path) -> None:
    (root / "src" / "a\nREADME.md (5 bytes)").write_text("hit\n")
    (root / "src" / os.fsdecode(b"b\xff")).write_text("hit\n")


@pytest.mark.usefixtures("odd_names")
async def test_no_name_of_a_file_can_pass_for_a_line_of_another(root: Path) -> None:
    listed = await shown(root, "list_files", path="src")
    assert listed.splitlines() == [
        '"src/a\\nREADME.md (5 bytes)" (4 bytes)',
        '"src/b\\udcff" (4 bytes)',
        "src/main.py (26 bytes)",
    ]
    found = await shown(root, "search_files", pattern="hit")
    assert found.splitlines() == [
        '"src/a\\nREADME.md (5 bytes)":1: hit',
        '"src/b\\udcff":1: hit',
    ]


@pytest.mark.parametrize(
    "pattern",
    ["(", "x" * 1_001, "((a{999}){999}){999}", "(" * 490 + ")" * 490, "a{" + "9" * 99 + "}"],
)
async def test_what_is_no_pattern_is_refused(root: Path, pattern: str) -> None:
    assert "pattern" in await refused(root, "search_files", pattern=pattern)


async def test_a_pattern_that_would_run_for_ever_is_stopped(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsh.tools_files._searching.MAX_SECONDS", 0.2)
    (root / "bait").write_text("a" * 1_000 + "b")
    assert "took longer" in await refused(root, "search_files", pattern="(a|aa|a?)+$")


async def test_a_search_whose_time_is_up_begins_no_other_line(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dsh.tools_files._searching.MAX_SECONDS", 0)
    assert "took longer than 0 seconds" in await refused(root, "search_files", pattern="hello")


ESCAPES = [
    "../secret.txt",
    "src/../../secret.txt",
    "..",
    "/etc/passwd",
    "//etc/passwd",
    "link.txt",
    "linked/secret.txt",
    "src/../link.txt",
    "chain.txt",
    "proc/1/environ",
]
"""Ways out: upwards, absolute, through links to files, directories and other links."""

LITERAL = ["%2e%2e/secret.txt", "..%2fsecret.txt", "..\\secret.txt", "~/secret.txt", "\ufeff../x"]
"""Ways that some systems decode into others; here they are names like any other."""


@pytest.fixture
def trapped(root: Path) -> Path:
    (root / "link.txt").symlink_to("../secret.txt")
    (root / "linked").symlink_to("../other")
    (root / "chain.txt").symlink_to("link.txt")
    (root / "proc").symlink_to("/proc")
    return root


@pytest.mark.parametrize("path", ESCAPES)
@pytest.mark.parametrize("tool", ["read_file", "list_files", "search_files"])
async def test_no_path_leads_out(trapped: Path, tool: str, path: str) -> None:
    more = {"pattern": "hello"} if tool == "search_files" else {}
    text = await refused(trapped, tool, path=path, **more)
    assert re.search("absolute|upwards|link", text)


@pytest.mark.parametrize("path", LITERAL)
async def test_encoded_paths_are_names_like_any_other(trapped: Path, path: str) -> None:
    text = await refused(trapped, "read_file", path=path)
    # the last where the names of files are plain ASCII
    assert re.search("there is no|upwards|a character that no file name has", text)


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5_000])
async def test_what_no_file_can_be_called_is_refused(root: Path, path: str) -> None:
    assert await refused(root, "read_file", path=path)


def test_a_name_that_the_file_system_cannot_encode_is_refused(root: Path) -> None:
    walk = ConfinedDirectory(root).walk("\ud800", recursive=False)
    with pytest.raises(FileToolsError, match="holds a character that no file name has"):
        next(walk)


def test_what_is_gone_by_the_time_a_walk_gets_there_is_left_out(root: Path) -> None:
    walk = ConfinedDirectory(root / "src").walk("", recursive=False)
    for name in ("a", "b", "c"):
        (root / "src" / name).touch()
    assert next(walk).name == "a"
    (root / "src" / "b").unlink()
    assert [entry.name for entry in walk] == ["c", "main.py"]


async def test_links_are_listed_but_neither_followed_nor_searched(trapped: Path) -> None:
    text = await shown(trapped, "list_files", recursive=True)
    assert "linked [not a regular file]" in text
    assert "secret.txt" not in text
    assert "outside" not in await shown(trapped, "search_files", pattern="hello")


async def test_devices_pipes_and_directories_are_no_files(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "no regular file" in await refused(root, "read_file", path="pipe")
    assert "is a directory" in await refused(root, "read_file", path="src")
    assert "names a directory" in await refused(root, "read_file", path=".")
    assert "Not a directory" in await refused(root, "list_files", path="README.md")
    assert await shown(root, "search_files", pattern="nothing") == "[no line matches]"
    devices = Path("/dev")
    assert "no regular file" in await refused(devices, "read_file", path="zero")


async def test_what_may_not_be_read_is_said_so(root: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is unreadable for root")
    (root / "src").chmod(0)
    try:
        assert "cannot be read" in await refused(root, "read_file", path="src/main.py")
        assert "src/ [not entered]" in await shown(root, "list_files", recursive=True)
    finally:
        (root / "src").chmod(0o700)


SWAPS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a link for the file": ("src/main.py", lambda place: place.symlink_to("../../secret.txt")),
    "a link for the directory": ("src", lambda place: place.symlink_to("../other")),
    "a pipe for the file": ("src/main.py", os.mkfifo),
    "a pipe for the directory": ("src", os.mkfifo),
}


@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("tool", ["read_file", "search_files"])
async def test_what_is_swapped_in_at_the_last_moment_leads_nowhere(
    root: Path, tool: str, swap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link or pipe put there after every check and before the open is refused all the same."""
    path, put = SWAPS[swap]
    place = root / path
    (root.parent / "other" / "main.py").write_text("hello from outside\n")
    opens = os.open
    swapped: list[Path] = []

    def swapping(name: Any, *args: Any, **kwargs: Any) -> int:
        if name == place.name and not swapped:
            swapped.append(place.rename(root / "aside"))
            put(place)
        return opens(name, *args, **kwargs)

    monkeypatch.setattr(os, "open", swapping)
    arguments = {"pattern": "hello"} if tool == "search_files" else {"path": "src/main.py"}
    result = await use(root, tool, **arguments)
    assert swapped
    assert "outside" not in text_of(result)
    assert result.is_error or "not searched" in text_of(result)


async def test_directories_deeper_than_a_walk_goes_are_marked(root: Path) -> None:
    deep = root / "/".join("d" * 70)
    deep.mkdir(parents=True)
    text = await shown(root, "list_files", path="d", recursive=True)
    assert text.splitlines()[-1].endswith("/d/ [not entered]")
    assert await shown(root, "list_files", path="/".join("d" * 70)) == "[the directory is empty]"


async def test_no_file_stays_open(trapped: Path) -> None:
    def open_fds() -> int:
        return len(os.listdir("/proc/self/fd"))

    await shown(trapped, "list_files", recursive=True)
    before = open_fds()
    for path in ("src/main.py", "link.txt", "linked/x", "nope", "src", "src/nope"):
        await use(trapped, "read_file", path=path)
    await shown(trapped, "search_files", pattern="hello")
    await shown(trapped, "list_files", recursive=True)
    assert open_fds() == before
