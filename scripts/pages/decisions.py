"""The index of the decisions, made from the title and the status of each record."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from gates.markdown import headings, prose_lines
from pages.page import NOTICE, Page, table

FOLDER: Final = "docs/decisions"
INDEX: Final = f"{FOLDER}/README.md"
NAME: Final = re.compile(r"(?P<number>\d{4})-[a-z0-9]+(?:-[a-z0-9]+)*\.md")

_TITLE: Final = re.compile(r"# (?P<number>\d+)\. (?P<title>\S.*)")
_STATUS: Final = re.compile(r"Status: (?P<status>[a-z]+)(?:: (?P<reason>\S.*))?")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One decision, as its file has it; what the file lacks is None or empty."""

    path: Path
    number: int | None
    title: str | None
    status: str | None
    reason: str | None
    """What follows the status after a colon."""
    sections: dict[str, str]
    """The text below each heading of the second level, in their order."""


def records(root: Path) -> list[Record]:
    """Return every record: the Markdown files of the folder, the index left out, by name."""
    paths = sorted(path for path in (root / FOLDER).glob("*.md") if path != root / INDEX)
    return [_record(path) for path in paths]


def _record(path: Path) -> Record:
    text = path.read_text(encoding="utf-8")
    lines = prose_lines(text)
    title = _TITLE.fullmatch(lines[0]) if lines else None
    status = _STATUS.fullmatch(lines[2]) if len(lines) > 2 and not lines[1] else None
    return Record(
        path=path,
        number=int(title["number"]) if title else None,
        title=title["title"] if title else None,
        status=status["status"] if status else None,
        reason=status["reason"] if status else None,
        sections=_sections(text.splitlines(), lines),
    )


def _sections(text: list[str], prose: list[str]) -> dict[str, str]:
    heads = [heading for heading in headings(prose) if heading.level == 2]
    ends = [*(heading.number - 1 for heading in heads[1:]), len(text)]
    return {
        heading.text: "\n".join(text[heading.number : end]).strip()
        for heading, end in zip(heads, ends, strict=True)
    }


def _render(root: Path) -> dict[str, str]:
    rows = [
        (f"[{record.number}]({record.path.name})", record.title or "", record.status or "")
        for record in records(root)
    ]
    text = (
        f"# Decisions\n{NOTICE}\n"
        "What was decided where more than one way was open. A record has one form, described in\n"
        "[development.md](../development.md); a decision that falls gets a new record.\n\n"
    )
    return {INDEX: text + table(("number", "decision", "status"), rows)}


PAGE: Final = Page(name="decisions", owns=INDEX, render=_render)
