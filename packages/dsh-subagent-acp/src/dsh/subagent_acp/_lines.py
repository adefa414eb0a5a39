"""Bytes in any pieces become lines, within a bound. Pure."""

from typing import final

from dsh.subagent_acp._errors import AcpLineError

__all__ = ["LineBuffer"]


@final
class LineBuffer:
    """Splits at line feeds and nowhere else: the other line ends of Unicode are text in JSON."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that *data* completes, without their ends.

        Raises:
          AcpLineError: a line is longer than the limit; what was buffered is dropped.
        """
        if b"\n" not in data:
            self._rest += data
            self._demand(self._rest)
            return []
        first, *others = data.split(b"\n")
        lines = [bytes(self._rest) + first, *others]
        self._rest = bytearray(lines.pop())
        for line in lines:
            self._demand(line)
        self._demand(self._rest)
        return lines

    def _demand(self, line: bytes | bytearray) -> None:
        if len(line) > self._limit:
            self._rest = bytearray()
            raise AcpLineError(self._limit)
