"""The formats of the subset, each a predicate over strings, in time linear in their length.

The format checker of `jsonschema` silently accepts what an optional package would have to
check; here every accepted format is enforced. Sources: RFC 3339 (date, time, date-time),
RFC 4122 (uuid), RFC 3986 (uri), RFC 5321 (email).
"""

from __future__ import annotations

import calendar
import ipaddress
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

# Texts, which `re` compiles and keeps when they are first used: most schemas have no format.
_DATE = r"(?a:(\d{4})-(\d{2})-(\d{2}))"
_TIME = r"(?a:(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2})))"
_UUID = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_URI = (
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    r"(?://"
    r"(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?"
    r"(?:\[(?P<literal>[^\[\]/?#]*)\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)"
    r"(?::[0-9]*)?"
    rf"(?:/{_PCHAR}*)*"
    rf"|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?"
    rf"|{_PCHAR}+(?:/{_PCHAR}*)*"
    r"|)"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:\#(?:{_PCHAR}|[/?])*)?"
)
_FUTURE_ADDRESS = r"[Vv][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+"

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_EMAIL = (
    rf"(?:{_ATOM}(?:\.{_ATOM})*|\"(?:[ !#-\[\]-~]|\\[ -~])*\")"
    rf"@(?:\[(?P<literal>[^\[\]]*)\]|{_LABEL}(?:\.{_LABEL})*)"
)


def is_date(text: str) -> bool:
    """Tell whether *text* is a full date of RFC 3339 that exists in the calendar."""
    found = re.fullmatch(_DATE, text)
    if found is None:
        return False
    year, month, day = map(int, found.groups())
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]


def is_time(text: str) -> bool:
    """Tell whether *text* is a full time of RFC 3339: with an offset, leap seconds at UTC's."""
    found = re.fullmatch(_TIME, text)
    if found is None:
        return False
    hour, minute, second = map(int, found.group(1, 2, 3))
    offset_hour, offset_minute = (int(part or 0) for part in found.group(5, 6))
    if max(hour, offset_hour) > 23 or max(minute, offset_minute) > 59 or second > 60:
        return False
    if second < 60:
        return True
    offset = (offset_hour * 60 + offset_minute) * (-1 if found.group(4) == "-" else 1)
    return (hour * 60 + minute - offset) % (24 * 60) == 24 * 60 - 1


def is_date_time(text: str) -> bool:
    """Tell whether *text* is a date and a time of RFC 3339, joined by ``T``."""
    return text[10:11] in {"T", "t"} and is_date(text[:10]) and is_time(text[11:])


def is_uuid(text: str) -> bool:
    """Tell whether *text* is a UUID with its hyphens, of any version."""
    return re.fullmatch(_UUID, text) is not None


def is_uri(text: str) -> bool:
    """Tell whether *text* is an absolute URI; a relative reference is none."""
    found = re.fullmatch(_URI, text)
    if found is None:
        return False
    literal = found["literal"]
    return literal is None or _is_ip_literal(literal)


def is_email(text: str) -> bool:
    """Tell whether *text* is a mailbox of RFC 5321: ASCII, quoted or not, host or address."""
    found = re.fullmatch(_EMAIL, text)
    if found is None:
        return False
    literal = found["literal"]
    if literal is None:
        return True
    if literal.startswith("IPv6:"):
        return _is_ipv6(literal.removeprefix("IPv6:"))
    return _is_ipv4(literal)


def _is_ip_literal(text: str) -> bool:
    return _is_ipv6(text) or re.fullmatch(_FUTURE_ADDRESS, text) is not None


def _is_ipv6(text: str) -> bool:
    try:
        return ipaddress.IPv6Address(text).scope_id is None
    except ValueError:
        return False


def _is_ipv4(text: str) -> bool:
    try:
        ipaddress.IPv4Address(text)
    except ValueError:
        return False
    return True


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "date-time": is_date_time,
        "date": is_date,
        "time": is_time,
        "uuid": is_uuid,
        "uri": is_uri,
        "email": is_email,
    }
)
"""Every format the subset accepts, with what enforces it."""

FORMAT_EXAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "date-time": "a date-time with its offset, as in 2026-01-31T12:30:00Z",
        "date": "a date, as in 2026-01-31",
        "time": "a time with its offset, as in 12:30:00Z",
        "uuid": "a uuid, as in 12345678-9abc-4def-8123-456789abcdef",
        "uri": "an absolute uri, as in https://example.org/page",
        "email": "an email address, as in name@example.org",
    }
)
"""What a violation says the value must be."""
