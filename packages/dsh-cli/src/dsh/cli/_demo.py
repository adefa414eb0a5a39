"""``dsh demo``: three kinds of children at work on a sample project, without a key or a network.

Everything is real but the models' turns, which are replayed from a recording of a real model: the
host, the backends, the tools and the files they read. ``scripts/record_demo.py`` records anew.
"""

import argparse
import tomllib
from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from dsh.cli._asking import Asking, Saying
from dsh.cli._composition import Parts
from dsh.cli._model_choice import REPLAY, ModelChoice, ModelSource
from dsh.cli._provider_choice import choose_provider
from dsh.cli._running import asked
from dsh.cli._streams import say
from dsh.tool_subagent import SubagentToolConfig, ToolFilterConfig

__all__ = ["MODEL_NAME", "demo_asking", "demo_parts", "material", "perform"]

MODEL_NAME: Final = "demo"
"""What the model is called in the requests that were recorded."""

READING: Final = ToolFilterConfig(allow=("read_file",))

MOST_WATER: Final = {
    "type": "object",
    "properties": {"plant": {"type": "string"}, "litres": {"type": "integer"}},
    "required": ["plant", "litres"],
    "additionalProperties": False,
}


def perform(options: argparse.Namespace) -> int:
    """Show the demo, and return the exit status."""
    with material() as demo:
        say((demo / "about.txt").read_text(encoding="utf-8"))
        path = demo / "recording.jsonl"
        model = ModelChoice(
            plugin=REPLAY, name=MODEL_NAME, settings={"path": path}, shown="the recorded model"
        )
        parts = demo_parts(model, demo, log=None if options.log is None else Path(options.log))
        return asked(parts, demo_asking(demo, json=options.json))


def material() -> AbstractContextManager[Path]:
    """The directory with the sample project, the prompts and the recording."""
    return as_file(files("dsh.cli").joinpath("demo"))


def demo_asking(demo: Path, *, json: bool = False) -> Asking:
    """What the user says, turn by turn."""
    turns = tomllib.loads((demo / "prompts.toml").read_text(encoding="utf-8"))["turns"]
    first, *then = (Saying(**turn) for turn in turns)
    return Asking(prompt=first.text, then=tuple(then), json=json, children=True)


def demo_parts(model: ModelSource, demo: Path, *, log: Path | None = None) -> Parts:
    """A host with three ways to delegate: a fresh child, a fork, and one that fills in fields."""
    return Parts(
        model=model,
        providers=(choose_provider("fork"),),
        delegation=(
            SubagentToolConfig(
                provider="spawn", tool_name="ask_fresh", tool_filter=READING, max_depth=2
            ),
            SubagentToolConfig(provider="fork", tool_name="ask_fork", max_depth=2),
            SubagentToolConfig(
                provider="spawn",
                tool_name="ask_fields",
                tool_filter=READING,
                output_schema=MOST_WATER,
                max_depth=2,
            ),
        ),
        tools=demo / "project",
        tool_names=("read_file",),
        log=log,
        max_steps=6,
    )
