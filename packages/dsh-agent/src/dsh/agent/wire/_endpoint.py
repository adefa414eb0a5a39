"""What is needed to reach a provider, checked before it is asked."""

from urllib.parse import urlsplit

from dsh.agent._model import ModelError

__all__ = ["checked_key", "checked_url"]


def checked_url(url: str) -> str:
    """Return *url*, the address of an endpoint.

    Raises:
      ValueError: it is no address over HTTP.
    """
    parts = urlsplit(url)  # raises for a host in half a bracket, and `port` for one out of range
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("an address is like http://host:port/path or https://host/path")
    if not url.isprintable() or " " in url:
        raise ValueError("an address has no blanks or control characters")
    return url


def checked_key(key: str, *, url: str, variable: str) -> str:
    """Return *key*, for the endpoint at *url*; *variable* is where else it might have come from.

    Raises:
      ModelError: there is none, or it cannot stand in a header (``AUTH``); it is not repeated.
    """
    if not key:
        raise ModelError(f"no key for {url}: set {variable}, or give api_key", code="AUTH")
    if not all("!" <= character <= "~" for character in key):
        raise ModelError(
            f"the key for {url} has a blank, a line break or another character that no key has: "
            f"look at {variable}, or at api_key",
            code="AUTH",
        )
    return key
