"""``dsh run``: asks one agent, shows the tree of what it delegates, prints its answer."""

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import trio

from dsh.agent import EventLogged, TurnStarted
from dsh.cli._answer import Answer, print_answer
from dsh.cli._asking import Asking, Saying
from dsh.cli._composition import AGENT_PROVIDER, Composition, Parts, composed
from dsh.cli._delegations import label_of
from dsh.cli._display import displayed
from dsh.cli._errors import BadInputError
from dsh.cli._interruption import interruptible
from dsh.cli._model_choice import choose_model
from dsh.cli._provider_choice import choose_provider
from dsh.cli._schema import load_schema
from dsh.subagent import SubagentRunError, SubagentStartCancelledError, SubagentStartRequest
from dsh.tool_subagent import SubagentToolConfig

__all__ = ["ask", "asked", "perform"]


def perform(options: argparse.Namespace) -> int:
    """Do what ``dsh run`` was told, and return the exit status."""
    _here()
    asking = Asking(
        prompt=_prompt(options.prompt),
        output_schema=None if options.output_schema is None else load_schema(options.output_schema),
        timeout=options.timeout,
        json=options.json,
    )
    return asked(_parts(options), asking)


def asked(parts: Parts, asking: Asking) -> int:
    """`ask` in a run of trio, into whose own code no signal raises: it is noted until asked."""
    with interruptible(_note):
        return trio.run(ask, parts, asking)


async def ask(parts: Parts, asking: Asking) -> int:
    """Ask an agent of a host made of *parts*; show, print and return the exit status.

    Raises:
      HarnessError: a part cannot be had; nothing was started.
    """
    scope = trio.CancelScope(relative_deadline=inf if asking.timeout is None else asking.timeout)
    token = trio.lowlevel.current_trio_token()

    def cancel() -> None:
        scope.cancel(f"interrupted by {interruption.name}")

    with interruptible(partial(token.run_sync_soon, cancel)) as interruption:
        async with composed(parts) as home, displayed(home.host.hooks) as watch:
            answer = await _answer(home, asking, scope)
        answer = replace(answer, lost=home.lost)
        print_answer(answer, watch, parts, asking)
    if answer.completed:
        return 1 if answer.lost else 0
    return interruption.status if interruption.happened else 1


async def _answer(home: Composition, asking: Asking, scope: trio.CancelScope) -> Answer:
    request: SubagentStartRequest[Any] = SubagentStartRequest(
        prompt=asking.prompt,
        parent=home.user,
        cancel_scope=scope,
        label=label_of(asking.prompt),
        output_schema=asking.output_schema,
    )
    if asking.then:
        home.host.hooks.on(EventLogged, partial(_go_on, iter(asking.then)))
    try:
        result = await home.subagents.run(AGENT_PROVIDER, request)
    except SubagentStartCancelledError as exc:
        return Answer(stop_reason="aborted", detail=str(exc))
    except SubagentRunError as exc:
        return Answer(stop_reason="error", detail=str(exc))
    return Answer.of(result)


def _go_on(then: Iterator[Saying], logged: EventLogged) -> None:
    """Say what is next once the user's own agent has opened a turn."""
    opens = isinstance(logged.event, TurnStarted) and logged.agent.depth == 1
    if opens and (said := next(then, None)) is not None:
        logged.agent.send(said.text, tool_choice=said.tool_choice)


def _note() -> None:
    """Nothing to do: whoever takes the signals over next is told."""


def _here() -> None:
    """Refuse to work in a directory that was removed."""
    try:
        os.getcwd()
    except OSError as exc:
        raise BadInputError("the current directory", f"is not there: {exc.strerror}") from exc


def _prompt(given: str | None) -> str:
    piped = given is None or given == "-"
    if piped and sys.stdin.isatty():
        raise BadInputError("PROMPT", "is missing: give one, or pipe one in")
    try:
        prompt = sys.stdin.read() if piped or given is None else given
    except UnicodeDecodeError as exc:
        problem = f"standard input is not {exc.encoding}: {exc.reason} at byte {exc.start}"
        raise BadInputError("PROMPT", problem) from exc
    if not prompt.strip():
        raise BadInputError("PROMPT", "is empty")
    return prompt


def _parts(options: argparse.Namespace) -> Parts:
    provider = choose_provider(options.provider, os.environ)
    delegation = SubagentToolConfig(
        provider=provider.name,
        max_depth=options.max_depth + 1,  # the user's own agent lies at depth 1
        max_children=options.max_children,
    )
    tools = None if options.tools is None else Path(options.tools)
    if tools is not None and not os.path.isdir(tools):
        raise BadInputError("--tools", f"{options.tools!r} is no directory")
    return Parts(
        model=choose_model(options.model, os.environ),
        providers=(provider,),
        delegation=(delegation,),
        tools=tools,
        log=None if options.log is None else Path(options.log),
        max_parallel=options.max_parallel,
    )
