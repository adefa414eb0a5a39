"""A host of its own that delegates to a backend of its own: all it needs is `dsh-subagent`."""

import subprocess
from collections.abc import Callable
from functools import partial

import trio

from dsh import subagent
from dsh.agent import AgentId, TextBlock


class Desk:  # who delegates: a nursery for the children, a place for what is told
    id, cwd, depth = AgentId("desk"), None, 0

    def __init__(self, nursery: trio.Nursery) -> None:
        self.nursery = nursery

    def dispatch(self, event: object) -> None:
        print(f"  {type(event).__name__}")

    def adopt(self, cancel_scope: trio.CancelScope) -> Callable[[], None]:
        if self.nursery.cancel_scope.cancel_called:
            raise subagent.ParentDisposedError(self.id)
        return lambda: None  # nothing here is shielded: the nursery's end reaches every child


class ShellProvider:  # a child is a shell command; its answer is what the command prints
    name, inherits_parent_context, capabilities = "shell", False, subagent.SubagentCapabilities()

    async def serve(
        self, request: subagent.ResolvedRequest, *, publish: subagent.Publish
    ) -> subagent.SubagentResult:
        run = partial(trio.run_process, stdout=subprocess.PIPE, check=False)
        async with trio.open_nursery() as nursery:  # ends the process on every path
            process = await nursery.start(run, ["sh", "-c", request.text])
            publish(AgentId(f"shell-{process.pid}"))  # from here on there is a child
            output = b"".join([chunk async for chunk in process.stdout])
        reason = "error" if process.returncode else "completed"
        answer = TextBlock(text=output.decode(errors="replace").strip())
        return subagent.SubagentResult(stop_reason=reason, output=(answer,))


async def main() -> None:
    subagents = subagent.SubagentService()
    subagents.register(ShellProvider())
    async with trio.open_nursery() as nursery:
        desk = Desk(nursery)
        for command in ("echo done", "echo half; exit 1", "exec sleep 60"):
            limit = trio.CancelScope(relative_deadline=0.5)
            request = subagent.SubagentStartRequest(prompt=command, parent=desk, cancel_scope=limit)
            result = await subagents.run("shell", request)
            print(f"{command}: {result.stop_reason} {result.text!r}")


if __name__ == "__main__":
    trio.run(main)
