"""Draws what `dsh demo` shows, for the README: `.venv/bin/python scripts/draw_demo.py`.

The run is a real one; only its times are left at zero, so that the picture changes when what is
shown does.
"""

import contextlib
import io
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from dsh.agent import Usage
from dsh.cli import main
from dsh.cli._delegations import Delegation, walk
from dsh.cli._drawing import drawing, style_of

PICTURE: Final = Path(__file__).parents[1] / "docs" / "demo.svg"
WIDTH: Final = 100
FONTS: Final = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""What rich would have a browser fetch from elsewhere."""


def picture() -> str:
    """Run the demo, and return the picture of it."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["demo", "--json"])
    assert status == 0, err.getvalue()
    found: dict[str, Any] = json.loads(out.getvalue())
    roots = [_delegation(each) for each in found["tree"]]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ scripts/dsh demo", "bold"))
    console.print(Text(_about(err.getvalue())))
    console.print(drawing(roots, now=0.0, width=WIDTH))
    for child in walk(roots[0].children):
        console.print(Text.assemble("\n", (f"{child.label} [{child.provider}]", style_of(child))))
        console.print(Text(child.text))
    console.print(Text.assemble("\n", found["text"]))
    return console.export_svg(title="dsh demo", code_format=FONTS.sub("", CONSOLE_SVG_FORMAT))


def _about(err: str) -> str:
    return err.partition("\n\n")[0] + "\n"


def _delegation(found: Mapping[str, Any]) -> Delegation:
    return Delegation(
        id=found["id"],
        provider=found["provider"],
        label=found["label"],
        began=0.0,
        ended=0.0,
        stop_reason=found["stop_reason"],
        text=found["text"],
        usage=Usage(**found["usage"]),
        model_requests=found["model_requests"],
        tool_calls=found["tool_calls"],
        children=[_delegation(child) for child in found["children"]],
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
