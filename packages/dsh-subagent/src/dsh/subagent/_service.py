"""The registry of backends, and the door every delegation goes through.

Next: `_factory.py`, for backends that come as plugins.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast, final

import trio
from trio.lowlevel import enable_ki_protection

from dsh.agent import AgentDisposedError, HarnessError, Hooks, Registration
from dsh.subagent._admission import admit, refuse_used_scope
from dsh.subagent._errors import (
    DuplicateProviderError,
    ParentDisposedError,
    SubagentStartCancelledError,
    UnknownProviderError,
)
from dsh.subagent._events import ProviderAdded, ProviderRemoved
from dsh.subagent._parent import DelegatingParent
from dsh.subagent._provider import ProviderDescriptor, SubagentCapabilities, SubagentProvider
from dsh.subagent._request import SubagentStartRequest
from dsh.subagent._result import SubagentResult
from dsh.subagent._run import SubagentRun
from dsh.subagent._supervisor import Supervisor

__all__ = ["SubagentService"]

T = TypeVar("T")


@final
class SubagentService:
    """The providers of a host, under their names; ``hooks`` tells of their coming and going."""

    def __init__(self) -> None:
        self.hooks = Hooks()
        self._providers: dict[str, tuple[ProviderDescriptor, SubagentProvider]] = {}

    def register(self, provider: SubagentProvider) -> Registration:
        """Make *provider* startable; closing the registration spares runs already started.

        What the provider says of itself is read once, here. What a listener of `ProviderAdded`
        raises passes through, and undoes the registration.

        Raises:
          DuplicateProviderError: The name is taken; nothing changed.
          TypeError: It is no provider, or the class of one.
        """
        descriptor = _describe(provider)
        name = descriptor.name
        if name in self._providers:
            raise DuplicateProviderError(name)
        self._providers[name] = descriptor, provider

        def undo() -> None:
            del self._providers[name]
            self.hooks.dispatch(ProviderRemoved(provider=descriptor))

        try:
            self.hooks.announce(ProviderAdded(provider=descriptor))
        except BaseException:  # undone, and passed on
            undo()
            raise
        return Registration(undo)

    def get(self, name: str) -> ProviderDescriptor | None:
        """What the provider of that name said of itself; ``None`` where there is none."""
        found = self._providers.get(name)
        return None if found is None else found[0]

    def list(self) -> tuple[str, ...]:
        """The registered names, in the order of registration."""
        return tuple(self._providers)

    @enable_ki_protection
    async def run(self, name: str, request: SubagentStartRequest[T]) -> SubagentResult[T]:
        """Start, wait, close: what most callers want.

        Cancelling the call cancels the child, and ends once nothing of it runs. How a child ended
        is in the result; what is raised is what `start` and `SubagentRun.result` raise.
        """
        async with await self.start(name, request) as run:
            return await run.result()

    @enable_ki_protection
    async def start(self, name: str, request: SubagentStartRequest[T]) -> SubagentRun[T]:
        """Start a child; returning is its publication, and hands it to the caller (B-SEAM-14).

        A refusal comes before the backend is called. Cancelled or failed, it leaves nothing behind.
        There is no checkpoint between publication and return: a run that was published is a run
        somebody holds.

        Raises:
          UnknownProviderError: No provider has that name.
          UnsupportedCapabilityError: The request has a field that the provider does not honour.
          CancelScopeError: The request's scope is shielded, or was entered before.
          ParentDisposedError: The parent has begun to end.
          OutputSchemaError: The schema is outside of the subset, or none can be made of the type.
          TypeError, ValueError: A field is not what it has to be.
          SubagentDepthError: The child would lie deeper than the request's ``max_depth``.
          SubagentStartCancelledError: The request's scope was cancelled before publication.
          SubagentStartError: The backend failed before publication. A `dsh.agent.HarnessError`
            comes as it is: a filter that names an unknown tool, for example.
        """
        found = self._providers.get(name)
        if found is None:
            raise UnknownProviderError(name, known=self.list())
        descriptor, provider = found
        resolved = admit(descriptor, request)
        scope = request.cancel_scope
        refuse_used_scope(scope)
        if scope.cancel_called:
            raise SubagentStartCancelledError(
                f"the request for subagent provider {name!r} was cancelled before its start"
            )
        await trio.lowlevel.checkpoint_if_cancelled()
        release = _adopt(request.parent, scope)
        supervisor = Supervisor(provider, resolved, scope=scope, release=release)
        try:
            run: SubagentRun[Any] = await request.parent.nursery.start(supervisor.supervise)
        except HarnessError as exc:
            if isinstance(exc, SubagentStartCancelledError):
                await trio.lowlevel.checkpoint_if_cancelled()  # the caller's own cancellation first
            exc.__cause__ = supervisor.cause or exc.__cause__
            raise
        except RuntimeError as exc:  # trio: the nursery is closed, the supervisor never ran
            raise ParentDisposedError(resolved.parent_id) from exc
        finally:
            if not supervisor.entered:
                release()
        return run


def _adopt(parent: DelegatingParent, scope: trio.CancelScope) -> Callable[[], None]:
    try:
        release = parent.adopt(scope)
    except AgentDisposedError as exc:
        raise ParentDisposedError(parent.id) from exc
    if not callable(cast("object", release)):
        raise TypeError(f"adopt of parent {parent.id!r} gave {release!r:.80} instead of its undo")
    return release


def _describe(provider: SubagentProvider) -> ProviderDescriptor:
    if isinstance(provider, type):
        raise TypeError(f"{provider.__name__} is a class; register a provider made of it")
    name = cast("object", getattr(provider, "name", None))
    capabilities = cast("object", getattr(provider, "capabilities", None))
    inherits = cast("object", getattr(provider, "inherits_parent_context", None))
    if not isinstance(name, str) or not name:
        raise TypeError(f"a provider's name is a non-empty str, not {name!r}")
    if not isinstance(capabilities, SubagentCapabilities):
        raise TypeError(f"provider {name!r}: capabilities is no SubagentCapabilities")
    if not isinstance(inherits, bool):
        raise TypeError(f"provider {name!r}: inherits_parent_context is no bool")
    if not callable(cast("object", getattr(provider, "serve", None))):
        raise TypeError(f"provider {name!r} has no serve(request, *, publish)")
    return ProviderDescriptor(
        name=name, capabilities=capabilities, inherits_parent_context=inherits
    )
