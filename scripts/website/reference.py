"""`docs/api/`: in the tree a list of the public names, in the site the page of their docstrings.

So the two are one page under one name, and a link to it leads somewhere in both.
"""

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import ClassVar, Final

from docutils import nodes
from pygments.lexer import RegexLexer
from pygments.token import Text
from sphinx.addnodes import desc_signature, pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.typing import ExtensionMetadata, stringify_annotation

FOLDER: Final = "docs/api/"
MODULE: Final = re.compile(r"^\[(?P<path>dsh\.[\w.]+)\]$", re.MULTILINE)
ELSEWHERE: Final = re.compile(r"^(?P<name>\w+) = (?P<path>dsh\.[\w.]+)$", re.MULTILINE)
"""A name that is here too, and at home in another member."""
DATA: Final = re.compile(r"^(?P<name>\w+)(?:: (?P<type>.+?))?(?: = (?P<value>.+))?$", re.MULTILINE)
"""A constant or an alias. Sphinx finds no docstring of one that is imported from where it is."""


def _rewrite(_app: Sphinx, docname: str, source: list[str]) -> None:
    if docname.startswith(FOLDER):
        source[0] = _page(docname.removeprefix(FOLDER), source[0])


def _page(distribution: str, names: str) -> str:
    """Return the reST of the page of *distribution*, whose list of names is *names*."""
    about = f"What it is for: :doc:`{distribution} </packages/{distribution}/README>`."
    parts = [_heading(distribution, "="), about]
    _, *modules = MODULE.split(names)
    for path, listed in zip(modules[::2], modules[1::2], strict=True):
        guests = {match["name"]: _public(match["path"]) for match in ELSEWHERE.finditer(listed)}
        data = [match for match in DATA.finditer(listed) if match["name"] not in guests]
        apart = ", ".join([*guests, *(match["name"] for match in data)])
        parts += [_heading(path, "-"), f".. automodule:: {path}"]
        parts[-1] += f"\n   :exclude-members: {apart}" if apart else ""
        parts += [_datum(path, match) for match in data]
        parts += [f"``{name}`` is :py:obj:`{home}`." for name, home in guests.items()]
    return "\n\n".join(parts) + "\n"


def _datum(path: str, match: re.Match[str]) -> str:
    home, docstring = _explained(import_module(path), match["name"])
    lines = [f".. py:data:: {match['name']}", f"   :module: {path}"]
    lines += [f"   :canonical: {home}.{match['name']}"] if home != path else []
    lines += [f"   :{option}: {match[option]}" for option in ("type", "value") if match[option]]
    return "\n".join([*lines, "", *(f"   {line}" for line in docstring)])


def _explained(module: ModuleType, name: str) -> tuple[str, list[str]]:
    """Return the module where *name*, exported by *module*, is explained, and the docstring."""
    value = getattr(module, name)
    for path in sorted(each for each in sys.modules if each.startswith(module.__name__)):
        if getattr(sys.modules[path], name, None) is value:
            analyzer = ModuleAnalyzer.for_module(path)
            analyzer.analyze()
            if ("", name) in analyzer.attr_docs:
                return path, analyzer.attr_docs["", name]
    return module.__name__, []


def _heading(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}"


def _public(path: str) -> str:
    """Return the name under which the module that *path* leads through exports it."""
    return ".".join(part for part in path.split(".") if not part.startswith("_"))


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    """Link what an annotation names by its private module to where it is exported."""
    target = str(node.get("reftarget", ""))
    public = _public(target)
    if node.get("refdomain") != "py" or not target.startswith("dsh.") or public == target:
        return None
    domain = env.domains.python_domain
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", public, node, content)


def _finish(app: Sphinx, page: nodes.document) -> None:
    """Let a page link to a name: ``api/dsh-agent.txt#dsh.agent.Agent``, checked like a heading.

    And drop the base that every class has.
    """
    docname = app.env.docname
    if docname.startswith(FOLDER):
        names = [name for each in page.findall(desc_signature) for name in each["ids"]]
        app.env.metadata[docname]["myst_slugs"] = {name: (None, name, name) for name in names}
        for each in [*page.findall(nodes.paragraph)]:
            if each.astext() == "Bases: object":
                each.parent.remove(each)


def _signature(
    _app: Sphinx,
    what: str,
    _name: str,
    value: object,
    _options: object,
    arguments: str | None,
    returned: str | None,
) -> tuple[str, str | None] | None:
    """Say what a call looks like in the words of the source: by the names of aliases.

    A default that is made anew each time is ``...``; a protocol is not called at all.
    """
    if what == "class" and getattr(value, "_is_protocol", False):
        return "", None
    if not arguments:
        return None
    for written, name in _ALIASES.items():
        arguments = arguments.replace(written, name)
        returned = returned and returned.replace(written, name)
    return arguments.replace("<factory>", "..."), returned


_ALIASES: Final[dict[str, str]] = {}
"""The name of each public alias of more than one type, by what Python makes of it."""


def _find_aliases(app: Sphinx) -> None:
    found: dict[str, str] = {}
    for listing in sorted((app.srcdir / FOLDER).glob("*.txt")):
        _, *modules = MODULE.split(listing.read_text(encoding="utf-8"))
        for path, listed in zip(modules[::2], modules[1::2], strict=True):
            for match in DATA.finditer(listed):
                if match["type"] == "TypeAlias" and not match["value"].isidentifier():
                    alias = getattr(import_module(path), match["name"])
                    found[stringify_annotation(alias, "smart")] = f"~{path}.{match['name']}"
    _ALIASES.update(sorted(found.items(), key=lambda each: -len(each[0])))


def _docstring(
    _app: Sphinx, what: str, _name: str, _value: object, _options: object, lines: list[str]
) -> None:
    """Keep Google's style from taking the first words of "Why: because" for a type."""
    if what in {"attribute", "data", "property"}:
        lines[:0] = ["..", ""]  # an empty comment


class _Mermaid(RegexLexer):
    """Hosts of Markdown draw such a block; here its text is shown, which says as much."""

    tokens: ClassVar = {"root": [(r"[^\n]*\n", Text)]}


def setup(app: Sphinx) -> ExtensionMetadata:
    """Called by Sphinx."""
    app.connect("builder-inited", _find_aliases)
    app.connect("source-read", _rewrite)
    app.connect("doctree-read", _finish)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=400)  # before napoleon
    app.connect("missing-reference", _resolve)
    app.add_lexer("mermaid", _Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
