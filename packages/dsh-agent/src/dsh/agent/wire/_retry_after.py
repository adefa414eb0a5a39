"""How long a provider that refuses for now may keep a request waiting."""

import time
from collections.abc import MutableMapping
from email.utils import parsedate_to_datetime
from math import isnan
from typing import Final, Protocol

__all__ = ["Refusable", "bound_retry_after"]

LONGEST_WAIT: Final = 120.0
"""Seconds; who has to wait for longer is better told so than kept."""

VERDICT: Final = "x-should-retry"
"""The header in which the vendors' SDKs are told whether to repeat a request."""


class Refusable(Protocol):
    """What is needed of the HTTP client's response."""

    @property
    def headers(self) -> MutableMapping[str, str]:
        """Looked up without regard to case."""
        ...


async def bound_retry_after(answer: Refusable) -> None:
    """Let a refusal stand that asks for a wait of more than two minutes.

    A hook for every response of an HTTP client below a vendor's SDK, which reads *answer* next. A
    wait that cannot be read is taken out, and the SDK waits as long as it would without one.
    """
    headers = answer.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if name not in headers:
            continue
        seconds = _seconds(headers[name], unit)
        if seconds is None:
            del headers[name]
        elif seconds > LONGEST_WAIT:
            headers[VERDICT] = "false"


def _seconds(wait: str, unit: float) -> float | None:
    """*wait*, a number of units or the date of its end, in seconds from now."""
    try:
        number = float(wait)
    except ValueError:
        try:
            return parsedate_to_datetime(wait).timestamp() - time.time()
        except (ValueError, OverflowError):  # no date, or none that a calendar has
            return None
    return None if isnan(number) else number * unit
