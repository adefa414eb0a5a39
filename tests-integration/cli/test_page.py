"""The page of `dsh show --html` in a real browser, without a server and without a network."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command import Dsh
from fake_endpoint import FakeEndpoint
from openai_wire import answer

from dsh.agent import TextBlock, ToolCallBlock, Usage

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)

pytestmark = pytest.mark.browser


@pytest.fixture
def page(endpoint: FakeEndpoint, dsh: Dsh, tmp_path: Path) -> Path:
    calls = [
        ToolCallBlock(
            id=f"c{n}",
            name="subagent",
            arguments=json.dumps({"description": what, "prompt": f"{what}?"}),
        )
        for n, what in enumerate(("count the files", "read <the> & notes"))
    ]
    used = Usage(input_tokens=40, output_tokens=2)
    endpoint.replies = [
        answer(*calls, finish="tool_calls", usage=used),
        answer(TextBlock(text="3"), usage=used),
        answer(TextBlock(text="They say <b>hello</b> & more."), usage=used),
        answer(TextBlock(text="There are 3, and they greet."), usage=used),
    ]
    assert dsh("run", "Look around.", "--log", str(tmp_path / "logs")).status == 0
    written = tmp_path / "page.html"
    assert dsh("show", str(tmp_path / "logs"), "--html", str(written)).status == 0
    return written


def browse(page: Path, *flags: str) -> str:
    if BROWSER is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    home = page.parent / "profile"
    ran = subprocess.run(
        [BROWSER, *FLAGS, f"--user-data-dir={home}", *flags, page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return ran.stdout


def test_a_browser_shows_the_tree_and_the_timeline(page: Path) -> None:
    shown = browse(page, "--dump-dom")
    assert shown.count("<details") == 3
    assert "They say &lt;b&gt;hello&lt;/b&gt; &amp; more." in shown
    assert shown.count('class="bar"') == 3
    assert shown.count('class="tick"') == 4


def test_a_browser_draws_it(page: Path) -> None:
    picture = page.parent / "page.png"
    browse(page, f"--screenshot={picture}", "--window-size=900,900")
    assert picture.read_bytes().startswith(b"\x89PNG")
