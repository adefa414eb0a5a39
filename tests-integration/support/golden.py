"""Requests as files a person can compare; ``DSH_UPDATE_GOLDEN=1`` writes them anew."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from dsh.agent import ChatRequest, Message, thaw_json

__all__ = ["assert_golden", "shown"]

GOLDEN: Final = Path(__file__).parents[1] / "golden"


def assert_golden(name: str, requests: Sequence[ChatRequest]) -> None:
    """Compare *requests* with the file of that name."""
    path = GOLDEN / f"{name}.json"
    text = json.dumps([shown(each) for each in requests], indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("DSH_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} differs; see its README"


def shown(request: ChatRequest) -> dict[str, Any]:
    """*request* as JSON, the ids of sessions left out; texts as their lines."""
    tools = request.tools
    return {
        "model": request.model,
        "options": thaw_json(request.options),
        "tool_choice": request.tool_choice,
        "system": None if request.system is None else request.system.split("\n"),
        "tools": None
        if tools is None
        else [
            {
                "name": each.name,
                "description": each.description,
                "parameters": thaw_json(each.parameters),
            }
            for each in tools
        ],
        "messages": [_message(each) for each in request.messages],
    }


def _message(message: Message) -> dict[str, Any]:
    blocks = [{"type": type(each).__name__, **asdict(each)} for each in message.content]
    return {"role": message.role, "source": message.source, "content": blocks}
