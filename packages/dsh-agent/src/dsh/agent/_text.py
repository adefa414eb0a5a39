"""Text that UTF-8 can carry."""

__all__ = ["valid_text"]


def valid_text(text: str) -> str:
    """*text* with its surrogate pairs joined and U+FFFD for each lone surrogate.

    Where there is none, which is nearly always, it is the same object.
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
