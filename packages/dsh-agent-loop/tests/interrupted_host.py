"""A busy host that is interrupted: run by ``test_interrupt`` in a process of its own.

Interrupts itself, by a real SIGINT from another thread, as often as the first argument says, each
time at a random moment of a fresh ``trio.run``; prints one line if every time was as it must be.
"""

import os
import queue
import random
import signal
import sys
import threading
import warnings

import trio

from dsh.agent import (
    Agent,
    AgentCreated,
    AgentOptions,
    AgentSpec,
    ChatRequest,
    ChatResponse,
    OnDelta,
    ToolExecution,
    ToolResult,
    TurnEnded,
    check_log,
    tool,
)
from dsh.agent.testing import call, reply, say
from dsh.agent_loop import open_host


class Model:
    """Calls all the tools, then says so."""

    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        await trio.lowlevel.checkpoint()
        if request.messages[-1].source == "tool":
            return say("done")
        return reply(
            call("quick", call_id="a"), call("quick", call_id="b"), call("busy", call_id="c")
        )


@tool(concurrent=True)
async def quick(execution: ToolExecution) -> ToolResult:
    """Wait a moment."""
    await trio.lowlevel.checkpoint()
    return ToolResult(content=())


@tool
async def busy(execution: ToolExecution) -> ToolResult:
    """Compute without a checkpoint."""
    sum(range(3000))
    return ToolResult(content=())


async def work(agents: list[Agent], running: threading.Event) -> None:
    async with open_host(options=AgentOptions(model="model")) as host:
        host.hooks.on(AgentCreated, lambda event: agents.append(event.agent))
        host.models.register(Model(), "model")
        host.tools.register(quick)
        host.tools.register(busy)
        created = (await host.agents.create(AgentSpec())).agent
        running.set()
        while True:
            if created.status == "disposed":  # interrupted: the host is about to be cancelled
                await trio.sleep_forever()
            created.send("go")
            async with host.agents.open(AgentSpec()) as opened:
                opened.send("go")
                await opened.wait_idle()
            await created.wait_idle()


never = threading.Event()
strikes: queue.SimpleQueue[tuple[threading.Event, float]] = queue.SimpleQueue()


def strike() -> None:
    """Send the signals, from one thread: what is left of a thread may swallow an interrupt."""
    while True:
        running, delay = strikes.get()
        running.wait()
        never.wait(delay)
        os.kill(os.getpid(), signal.SIGINT)


def interrupt_once(delay: float) -> str | None:
    """Run, interrupt after *delay* seconds, and say what is wrong, if anything."""
    agents: list[Agent] = []
    running = threading.Event()
    strikes.put((running, delay))
    try:
        trio.run(work, agents, running)
    except KeyboardInterrupt:
        pass
    except BaseException as error:  # noqa: BLE001 - what else may leave is what is asked
        return f"left with {error!r}"
    for agent in agents:
        check_log(agent.session.events)
        if agent.session.events and not isinstance(agent.session.events[-1], TurnEnded):
            return f"an open turn: {list(agent.session.events)[-3:]}"
        if agent.status != "disposed":
            return f"an agent that is {agent.status}"
    return None


def main(times: int, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    moments = random.Random(seed)
    warnings.simplefilter("ignore", RuntimeWarning)  # a coroutine interrupted before its first step
    threading.Thread(target=strike, daemon=True).start()
    for number in range(times):
        if (wrong := interrupt_once(moments.uniform(0, 0.02))) is not None:
            sys.exit(f"interrupt {number}: {wrong}")
    print(f"{times} interrupts")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
