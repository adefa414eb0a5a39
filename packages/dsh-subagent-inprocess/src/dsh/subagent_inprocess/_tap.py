"""What a child does, told to whoever listens to its run; costs nothing while nobody does."""

from functools import partial
from typing import Final, final

from dsh.agent import (
    Agent,
    AssistantMessage,
    EventLogged,
    ModelDelta,
    TextBlock,
    TextDelta,
    ToolCalled,
    ToolFinished,
)
from dsh.subagent import (
    RunReporter,
    TextProgress,
    ThoughtProgress,
    ToolEndedProgress,
    ToolStartedProgress,
    UsageProgress,
)

__all__ = ["follow"]

_KINDS: Final = (
    TextProgress,
    ThoughtProgress,
    ToolStartedProgress,
    ToolEndedProgress,
    UsageProgress,
)


def follow(child: Agent, report: RunReporter, *, parent: Agent | None) -> None:
    """Report the progress of *child* as soon as anybody is there to hear it.

    A *parent* that is unknown may listen, so it is told everything.
    """
    if parent is None or any(map(parent.hooks.hears, _KINDS)):
        _attach(child, report)
    else:
        report.when_heard(partial(_attach, child, report))


def _attach(child: Agent, report: RunReporter) -> None:
    tap = _Tap(child, report)
    child.hooks.on(ModelDelta, tap.note_delta)
    child.hooks.on(EventLogged, tap.note_event)
    child.hooks.on(ToolFinished, tap.note_result)


@final
class _Tap:
    """Turns what an agent tells into what a run tells."""

    __slots__ = ("_child", "_report", "_streamed")

    def __init__(self, child: Agent, report: RunReporter) -> None:
        self._child = child
        self._report = report
        self._streamed = False

    def note_delta(self, event: ModelDelta) -> None:
        """A piece of an answer."""
        if isinstance(event.delta, TextDelta):
            self._streamed = True
            self._report.progress(TextProgress(text=event.delta.text))
        else:
            self._report.progress(ThoughtProgress(text=event.delta.text))

    def note_event(self, logged: EventLogged) -> None:
        """A whole answer, with what it cost; or a call that is made."""
        event = logged.event
        if isinstance(event, AssistantMessage):
            if not self._streamed:
                self._tell_text(event)
            self._streamed = False
            self._report.progress(UsageProgress(usage=self._child.usage))
        elif isinstance(event, ToolCalled):
            call = event.call
            self._report.progress(
                ToolStartedProgress(call_id=call.id, name=call.name, arguments=call.arguments)
            )

    def note_result(self, finished: ToolFinished) -> None:
        """A call that is over."""
        execution, result = finished.execution, finished.result
        self._report.progress(
            ToolEndedProgress(
                call_id=execution.call_id,
                name=execution.name,
                is_error=result.is_error,
                text="".join(b.text for b in result.content if isinstance(b, TextBlock)),
            )
        )

    def _tell_text(self, event: AssistantMessage) -> None:
        for block in event.message.content:
            if isinstance(block, TextBlock) and block.text:
                self._report.progress(TextProgress(text=block.text))
