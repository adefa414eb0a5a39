"""Which environment an agent gets, and which of it is never repeated. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final

from dsh.agent import valid_text

__all__ = ["child_environment", "is_credential", "redacted", "repeatable", "secrets_of"]

_MARKS: Final = ("KEY", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL")
_PLATFORM: Final = ("HOME", "LANG", "PATH", "TMPDIR")
_SHORTEST: Final = 4
"""A shorter value is no secret worth blacking out: it would black out half the message."""


def child_environment(
    ambient: Mapping[str, str], extra: Mapping[str, str], *, inherit: bool
) -> dict[str, str]:
    """Return what an agent sees: *ambient* without what looks like a credential, then *extra*.

    Names count, not values: whatever is called like a key, a secret, a token, a password or a
    credential stays behind, harmless namesakes (``MONKEY``) as well (B-PROC-01). Without *inherit*
    only what the platform needs is taken over.
    """
    names = ambient if inherit else [name for name in _PLATFORM if name in ambient]
    kept = {name: ambient[name] for name in names if not is_credential(name)}
    return kept | dict(extra)


def is_credential(name: str) -> bool:
    """Whether a variable is called like one that holds a credential."""
    return any(mark in name.upper() for mark in _MARKS)


def secrets_of(extra: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values in *extra* that no message may repeat, the longest first."""
    found = {value for name, value in extra.items() if is_credential(name)}
    return tuple(sorted((each for each in found if len(each) >= _SHORTEST), key=len, reverse=True))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Return *text* without any of these *secrets*."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def repeatable(text: str, extra: Mapping[str, str]) -> str:
    """Return *text*, of an agent that was given *extra*, as a message may repeat it.

    Cut it afterwards, not before: half a secret is not found.
    """
    return redacted(valid_text(text), secrets_of(extra))
