"""What every provider's wire has in common, where no provider is needed to tell."""

from collections.abc import Iterable

import pytest

from dsh.agent import ChatResponse, ModelError, ToolCallBlock
from dsh.agent.wire import EventDecoder, ServerSentEvent, VendorErrors, lower_schema
from dsh.agent.wire._calls import CallNaming


def decoded(chunks: Iterable[bytes]) -> list[tuple[str, str]]:
    decoder = EventDecoder()
    events: list[ServerSentEvent] = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [(event.name, event.data) for event in events]


STREAM = (
    "\ufeffdata: one\n\n: a comment\nevent: named\r\ndata:two\rdata:  three\r\n\r\n"
    "id: 7\nretry: 5\ndata\ndata: \u2028\x85\x0b\n\nevent: only a name\n\ndata: half"
).encode()
EVENTS = [("message", "one"), ("named", "two\n three"), ("message", "\n\u2028\x85\x0b")]


def test_events_are_decoded_as_the_standard_says() -> None:
    assert decoded([STREAM]) == EVENTS


def test_where_a_stream_is_cut_into_chunks_makes_no_difference() -> None:
    assert decoded(STREAM[i : i + 1] for i in range(len(STREAM))) == EVENTS
    for cut in range(len(STREAM)):
        assert decoded([STREAM[:cut], STREAM[cut:]]) == EVENTS


def test_an_event_without_end_is_given_up() -> None:
    decoder = EventDecoder()
    assert [list(decoder.feed(b"x" * 1024 * 1024)) for _ in range(16)] == [[]] * 16
    with pytest.raises(ModelError, match="event of more than") as caught:
        list(decoder.feed(b"x"))
    assert caught.value.code == "MALFORMED_RESPONSE"


def test_many_events_are_no_long_event() -> None:
    decoder = EventDecoder()
    event = b"data: " + b"x" * 1024 * 1024 + b"\n\n"
    assert sum(len(list(decoder.feed(event))) for _ in range(20)) == 20


def lowered(schema: dict[str, object]) -> object:
    return lower_schema(schema, where="tool 't'")


def test_a_reference_into_any_part_of_the_schema_is_inlined() -> None:
    schema: dict[str, object] = {
        "definitions": {"a/b": {"type": "string"}},
        "properties": {"$ref": {"$ref": "#/definitions/a~1b"}, "x": {"$ref": "#/properties/$ref"}},
    }
    assert lowered(schema) == {
        "properties": {"$ref": {"type": "string"}, "x": {"type": "string"}},
    }


def test_what_stands_beside_a_reference_still_holds() -> None:
    schema: dict[str, object] = {
        "$defs": {"n": {"minimum": 1, "description": "inner"}},
        "items": {"$ref": "#/$defs/n", "minimum": 5, "description": "outer"},
    }
    assert lowered(schema) == {
        "items": {
            "minimum": 5,
            "description": "outer",
            "allOf": [{"minimum": 1, "description": "inner"}],
        }
    }


def test_data_that_looks_like_a_schema_is_left_alone() -> None:
    data = {"const": 1, "$ref": "#/nowhere"}
    schema: dict[str, object] = {"enum": [data], "default": data, "examples": [data]}
    assert lowered(schema) == schema
    assert lowered({"const": data}) == {"enum": [data]}


def bomb() -> dict[str, object]:
    levels = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}
    return {"$ref": "#/$defs/d0", "$defs": {**levels, "d40": {"type": "null"}}}


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"$ref": "#/$defs/x"}, "which it does not have"),
        ({"$ref": "https://example.org/x"}, "only parts of itself"),
        ({"$ref": "#"}, "only parts of itself"),
        ({"$defs": {"x": {"$ref": "#/$defs/x"}}, "$ref": "#/$defs/x"}, "refers to itself"),
        (bomb(), "has more than 20000 parts"),
    ],
)
def test_what_cannot_be_inlined_is_refused_by_name(schema: dict[str, object], problem: str) -> None:
    with pytest.raises(ModelError, match=rf"the schema of tool 't' .*{problem}") as caught:
        lowered(schema)
    assert caught.value.code == "INVALID_REQUEST"


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1.5}', '{"a": 1.5}'),
        ('{"a": NaN}', '{"INVALID_JSON": "{\\"a\\": NaN}"}'),
        ('{"a": 1e999}', '{"INVALID_JSON": "{\\"a\\": 1e999}"}'),
    ],
)
def test_arguments_with_numbers_that_json_lacks_travel_as_text(arguments: str, sent: str) -> None:
    call = ToolCallBlock(id="c", name="look", arguments=arguments)
    assert CallNaming({"look"}).sendable(call).arguments == sent


def test_an_error_of_an_sdk_that_means_nothing_known_keeps_its_words() -> None:
    class SdkError(Exception):
        pass

    class UnusedError(SdkError):
        pass

    errors = VendorErrors(
        status=UnusedError,
        timeout=(UnusedError,),
        connection=UnusedError,
        broken=UnusedError,
        other=SdkError,
        key="a-secret-key",
    )
    whole = ChatResponse(content=(), finish_reason="stop")
    with (
        pytest.raises(ModelError, match="of a new kind") as caught,
        errors.translated(lambda: whole),
    ):
        raise SdkError("of a new kind")
    assert caught.value.code == "UNKNOWN"
