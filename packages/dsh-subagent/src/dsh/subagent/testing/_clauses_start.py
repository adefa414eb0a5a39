"""Clauses of the contract: starts that fail, parents that end, and what a backend declares.

Next: `_clauses_run.py`.
"""

from typing import Any, Final

from dsh.agent import TextBlock, ToolFilter
from dsh.subagent._errors import (
    ParentDisposedError,
    SubagentDepthError,
    SubagentError,
    SubagentStartCancelledError,
    SubagentStartError,
    UnsupportedCapabilityError,
)
from dsh.subagent._provider import ProviderDescriptor, SubagentCapabilities
from dsh.subagent.testing._bench import Bench, InjectedError, mentions
from dsh.subagent.testing._drive import Behaviour

__all__ = ["START_CLAUSES"]

_SCHEMA: Final = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_FIELDS: Final[dict[str, tuple[str, Any]]] = {
    "output_schema": ("output_schema", _SCHEMA),
    "depth_limit": ("max_depth", 100),
    "tool_filter": ("tool_filter", ToolFilter(deny=())),
    "persona": ("persona", "You are terse."),
}


async def _failing_start(bench: Bench, error: BaseException) -> SubagentError:
    def strike() -> None:
        raise error

    bench.probe.before_publish = strike
    failure = await bench.refused(bench.request(), SubagentError)
    bench.expect(mentions(failure, InjectedError), f"start lost the cause: {failure!r}")
    bench.nothing_happened("after a start that failed")
    bench.expect(bench.parent_error is None, "a failed start reached the parent's nursery")
    return failure


async def raises_before_publication(bench: Bench) -> None:
    """An error before publication fails the start alone; the backend undoes what it has made."""
    failure = await _failing_start(bench, InjectedError("before publication"))
    bench.expect(isinstance(failure, SubagentStartError), f"a foreign error came as {failure!r}")


async def group_before_publication(bench: Bench) -> None:
    """A group of one comes unwrapped; one of several keeps them all."""
    failure = await _failing_start(bench, ExceptionGroup("one", [InjectedError("alone")]))
    bench.expect(
        not isinstance(failure.__cause__, BaseExceptionGroup), f"a group of one: {failure!r}"
    )
    group = ExceptionGroup("two", [InjectedError("one"), KeyError("two")])
    failure = await _failing_start(bench, group)
    bench.expect(mentions(failure, KeyError), f"a mixed group lost a member: {failure!r}")


async def parent_disposed_before_start(bench: Bench) -> None:
    """A parent that has ended takes no children."""
    request = bench.request()
    await bench.end_parent()
    await bench.refused(request, ParentDisposedError)
    bench.expect(bench.probe.served == 0, "serve was called for a parent that had ended")


async def parent_disposed_while_starting(bench: Bench) -> None:
    """A parent that ends under a start, driven from outside, leaves nothing of it."""
    bench.probe.on_serve = lambda _: bench.above.cancel("the parent ends")
    await _overtaken(bench)


async def parent_disposed_at_publication(bench: Bench) -> None:
    """A parent that ends at the last moment has one aborted run, or none."""
    bench.probe.before_publish = lambda: bench.above.cancel("the parent ends")
    await _overtaken(bench)


async def _overtaken(bench: Bench) -> None:
    try:
        run = await bench.start(Behaviour.HANG)
    except (SubagentStartCancelledError, ParentDisposedError):
        bench.expect(not bench.lifecycle, f"a failed start told {bench.lifecycle}")
    else:
        result = await run.result()
        bench.expect(result.stop_reason == "aborted", f"the parent ended: {result.stop_reason!r}")
        await run.aclose()
        own = [f"start {run.id}", f"end {run.id}"]
        bench.expect(bench.lifecycle == own, f"the run told {bench.lifecycle}")
    await bench.end_parent()
    bench.nothing_runs("after the parent had ended mid-start")


async def capability_truth(bench: Bench) -> None:
    """A declared field is taken, a depth limit kept; an undeclared one never reaches `serve`."""
    descriptor = bench.service.get(bench.probe.name)
    assert isinstance(descriptor, ProviderDescriptor)
    for capability, (field, value) in _FIELDS.items():
        request = bench.request(**{field: value})
        served = bench.probe.served
        if not getattr(descriptor.capabilities, capability):
            await bench.refused(request, UnsupportedCapabilityError)
            bench.expect(bench.probe.served == served, f"serve was called without {capability}")
            continue
        result = await bench.service.run(bench.probe.name, request)
        if capability != "output_schema":
            bench.expect(result.completed, f"with {field} the child ended {result.stop_reason!r}")
        elif result.completed:
            bench.expect(result.value is not None, "completed without the value of its schema")
        if capability == "output_schema" and (prompt := bench.drive.structured()) is not None:
            await _answers_in_schema(bench, prompt)
    if descriptor.capabilities.depth_limit:
        request = bench.request(max_depth=bench.parent.depth)
        await bench.refused(request, SubagentDepthError)
    bench.nothing_runs("after the capabilities were tried")


async def _answers_in_schema(bench: Bench, prompt: str) -> None:
    request = bench.request(prompt=prompt, output_schema=_SCHEMA)
    result = await bench.service.run(bench.probe.name, request)
    why = f"{result.stop_reason!r}: {result.detail}"
    bench.expect(result.completed, f"asked to answer in a schema, the child ended {why}")


async def snapshot(bench: Bench) -> None:
    """What the caller changes after the start, and the provider of itself, changes nothing."""
    prompt = [TextBlock(text=bench.drive.prompt(Behaviour.ANSWER))]
    seen: list[str] = []

    def change(request: object) -> None:
        prompt.clear()
        bench.probe.name, bench.probe.capabilities = "renamed", SubagentCapabilities()
        seen.append(getattr(request, "text", ""))

    name, bench.probe.on_serve = bench.probe.name, change
    result = await bench.service.run(name, bench.request(prompt=prompt))
    bench.expect(result.completed, f"the child ended {result.stop_reason!r}: {result.detail}")
    bench.expect(seen == [bench.drive.prompt(Behaviour.ANSWER)], f"the backend was asked {seen}")
    bench.expect(bench.service.list() == (name,), "a renamed provider is registered otherwise")


START_CLAUSES: Final = (
    raises_before_publication,
    group_before_publication,
    parent_disposed_before_start,
    parent_disposed_while_starting,
    parent_disposed_at_publication,
    capability_truth,
    snapshot,
)
