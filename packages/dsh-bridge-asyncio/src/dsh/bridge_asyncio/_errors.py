"""What the bridge refuses, and how it can fail. All of it is a `BridgeError`."""

from dsh.agent import HarnessError

__all__ = ["BridgeClosedError", "BridgeCrashedError", "BridgeError", "BridgeMisuseError"]


class BridgeError(HarnessError):
    """Base of everything the bridge raises of its own."""


class BridgeClosedError(BridgeError):
    """The bridge has begun to close; it starts nothing any more."""

    code = "BRIDGE_CLOSED"

    def __init__(self) -> None:
        super().__init__(
            "the bridge has begun to close and starts no more children; "
            "use it inside its `async with open_bridge(...)` block"
        )


class BridgeCrashedError(BridgeError):
    """The trio side has died under its users; ``__cause__`` is what killed it."""

    code = "BRIDGE_CRASHED"

    def __init__(self, cause: BaseException) -> None:
        super().__init__(
            f"the trio side of the bridge has died of {type(cause).__name__}, the cause of this "
            "error; nothing of it runs any more: leave the `async with open_bridge(...)` block"
        )
        self.__cause__ = cause


class BridgeMisuseError(BridgeError):
    """The bridge was used from where it cannot work; nothing was started."""

    code = "BRIDGE_MISUSED"
