"""Models under the names agents ask for, each with its own limit on concurrent requests."""

from dataclasses import dataclass
from typing import final

import trio

from dsh.agent._errors import AgentError
from dsh.agent._model import ChatModel, ChatRequest, ChatResponse, ModelError, OnDelta
from dsh.agent._registration import Registration

__all__ = ["DuplicateModelError", "ModelRegistry", "UnknownModelError"]


class DuplicateModelError(AgentError):
    """A model is already registered under ``name``, one of several; none was registered."""

    code = "DUPLICATE_ADAPTER"

    def __init__(self, name: str) -> None:
        super().__init__(f"a model is already registered as {name!r}")
        self.name = name


class UnknownModelError(AgentError):
    """No model is registered under the name."""

    code = "NO_ADAPTER"

    def __init__(self, name: str, *, known: tuple[str, ...]) -> None:
        super().__init__(f"no model named {name!r}; registered: {', '.join(known) or 'none'}")
        self.name, self.known = name, known


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Entry:
    model: ChatModel
    limiter: trio.CapacityLimiter | None


@final
class ModelRegistry:
    """The models of a host."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}

    def register(
        self, model: ChatModel, *names: str, max_concurrent: int | None = None
    ) -> Registration:
        """Answer requests for *names* with *model*, at most *max_concurrent* at a time.

        All names or none: they are one model with one limit. Closing the registration takes all
        of them back; requests under way are not disturbed.

        Raises:
          DuplicateModelError: a name is taken, or given twice; none was registered.
          TypeError: there is no name, or *max_concurrent* is no int.
          ValueError: *max_concurrent* is below 1.
        """
        if not names:
            raise TypeError("a model needs at least one name to be registered under")
        for index, name in enumerate(names):
            if name in self._entries or name in names[:index]:
                raise DuplicateModelError(name)
        limiter = trio.CapacityLimiter(max_concurrent) if max_concurrent is not None else None
        entry = _Entry(model, limiter)
        self._entries.update(dict.fromkeys(names, entry))

        def undo() -> None:
            for name in names:
                del self._entries[name]

        return Registration(undo)

    @property
    def names(self) -> tuple[str, ...]:
        """Every registered name, in the order of registration."""
        return tuple(self._entries)

    @property
    def requests_under_way(self) -> int:
        """How many requests hold a token of a limited model right now."""
        limiters = {entry.limiter for entry in self._entries.values() if entry.limiter is not None}
        return sum(limiter.borrowed_tokens for limiter in limiters)

    @trio.lowlevel.disable_ki_protection
    async def generate(self, request: ChatRequest, *, on_delta: OnDelta) -> ChatResponse:
        """Answer *request* with the model it names, once that model's limit allows.

        The limit counts requests, never agents: an agent holds none of it while its children ask,
        so that nested children cannot starve each other. Cancelling ends the wait or the request.

        Raises:
          UnknownModelError: nothing is registered under ``request.model``.
          ModelError: the model could not answer: it said so, or its response finished with
            ``error`` or ``aborted``, which is then the error's ``response``.
        """
        entry = self._entries.get(request.model)
        if entry is None:
            raise UnknownModelError(request.model, known=self.names)
        if entry.limiter is None:
            return _succeeded(await entry.model.generate(request, on_delta=on_delta))
        borrower = object()
        await entry.limiter.acquire_on_behalf_of(borrower)
        try:
            return _succeeded(await entry.model.generate(request, on_delta=on_delta))
        finally:
            entry.limiter.release_on_behalf_of(borrower)


def _succeeded(response: ChatResponse) -> ChatResponse:
    """*response*, unless it reports a failure, or is none."""
    if not isinstance(response, ChatResponse):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ModelError(
            f"the model answered with a {type(response).__name__}, not a ChatResponse",
            code="MALFORMED_RESPONSE",
        )
    match response.finish_reason:
        case "error":
            message, code = "the model reported an error", "UNKNOWN"
        case "aborted":
            message, code = "the model was interrupted", "ABORTED"
        case _:
            return response
    raise ModelError(response.detail or message, code=response.code or code, response=response)
