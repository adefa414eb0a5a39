"""A connection that nobody listens to, and one that is broken already."""

import json

import pytest
from trio.testing import memory_stream_one_way_pair

from dsh.subagent_acp._connection import Connection
from dsh.subagent_acp._errors import AcpConnectionError
from dsh.subagent_acp._session import Session


async def said(connection: Connection) -> list[object]:
    """Everything that *connection* was told to send."""
    ours, theirs = memory_stream_one_way_pair()
    connection.close()
    await connection.write(ours)
    data = b""
    async for part in theirs:
        data += part
    return [json.loads(line) for line in data.splitlines()]


async def test_a_question_to_a_broken_connection_fails_at_once() -> None:
    connection = Connection(max_line_bytes=100)
    broken = AcpConnectionError("the agent ended")
    connection.fail(broken)
    with pytest.raises(AcpConnectionError) as caught:
        await connection.request("initialize", {})
    assert caught.value is broken
    assert await said(connection) == []


async def test_without_a_peer_news_is_ignored_and_questions_are_refused() -> None:
    connection = Connection(max_line_bytes=100)
    theirs, ours = memory_stream_one_way_pair()
    await theirs.send_all(b'{"method": "news"}\n{"method": "ask", "id": 5}\n')
    await theirs.aclose()
    await connection.read(ours)
    (refusal,) = await said(connection)
    error = {"code": -32601, "message": "this client has no method ask"}
    assert refusal == {"jsonrpc": "2.0", "id": 5, "error": error}


async def test_without_a_turn_under_way_there_is_nothing_to_cancel() -> None:
    connection = Connection(max_line_bytes=100)
    Session(connection, "s1", max_output_bytes=100).cancel()
    assert await said(connection) == []
