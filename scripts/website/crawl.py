"""What the built pages point at: targets and anchors exist, and nothing is loaded elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

FETCHED: Final = {"img": "src", "script": "src", "link": "href", "iframe": "src"}
"""What a browser loads by itself, by tag."""


def crawl(site: Path) -> list[str]:
    """Return what is wrong with the pages in the folder *site*, as `page: what`."""
    pages = {path: _Page(path) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site)}: {what}"
        for path, page in pages.items()
        for what in _faults(page, pages)
    ]


class _Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        if address := given.get(FETCHED.get(tag, "")):
            self.fetched.add(address)


def _faults(page: _Page, pages: dict[Path, _Page]) -> Iterator[str]:
    for address in sorted(page.fetched):
        if urlsplit(address).netloc:
            yield f"loads {address}, which is not of this site"
    for address in sorted(page.links | page.fetched):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
        if not target.is_file():
            yield f"points at {address}, which is not there"
        elif parts.fragment and target in pages:
            anchors = pages[target].anchors
            if not {parts.fragment, unquote(parts.fragment)} & anchors:
                yield f"points at {address}, where there is no such anchor"
