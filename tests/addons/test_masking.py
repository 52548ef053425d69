"""addons/masking.py: no secret in what is written down."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.masking import SHORTEST, masked, masked_deltas, masked_fields, secrets_of
from addons.sign import MASK

LETTERS = st.text("abcXYZ0189-_.~/+=", min_size=SHORTEST, max_size=60).map(str.encode)


@given(
    secrets=st.sets(LETTERS, min_size=1, max_size=4), pieces=st.lists(st.binary(max_size=12), min_size=1, max_size=6)
)
def test_no_known_secret_is_left(secrets: set[bytes], pieces: list[bytes]) -> None:
    """Wherever they stand, also one in another, and also where masking one brings two halves together."""
    data = b"".join(piece + secret for piece in pieces for secret in secrets)
    found = masked(data, secrets)

    assert not [secret for secret in secrets if secret in found and secret not in MASK]


@given(data=st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=80).map(str.encode))
def test_other_text_stays_as_it_is(data: bytes) -> None:
    """Byte for byte."""
    if b"sk-ant-" not in data:
        assert masked(data, [b"secret-secret"]) == data


def test_a_secret_is_known_as_json_writes_it_too() -> None:
    """A token may hold what JSON escapes."""
    secret = 'back\\slash"quote'
    assert masked(json.dumps({"a": secret}).encode(), [secret.encode()]) == b'{"a": "[masked]"}'


def test_what_has_a_logins_shape_is_masked_unknown_as_it_is() -> None:
    """It may be another pool's."""
    assert masked(b"x sk-ant-oat01-abcdefgh_-9, sk-ant-", []) == b"x [masked], sk-ant-"


def test_short_texts_are_no_secrets() -> None:
    """`ANTHROPIC_AUTH_TOKEN=x` must not take every x away."""
    assert masked(b"xx x", [b"x"]) == b"xx x"


def deltas(pieces: list[str]) -> bytes:
    """An event stream that says a text in these pieces."""
    kinds = [("text_delta", "text"), ("input_json_delta", "partial_json"), ("thinking_delta", "thinking")]
    events = (
        {"type": "content_block_delta", "delta": {"type": kinds[at % 3][0], kinds[at % 3][1]: piece}}
        for at, piece in enumerate(pieces)
    )
    return b"".join(b"event: content_block_delta\ndata: " + json.dumps(event).encode() + b"\n\n" for event in events)


def said(stream: bytes) -> str:
    """The text that a stream says."""
    found = [json.loads(line[6:])["delta"] for line in stream.splitlines() if line.startswith(b"data: ")]
    return "".join(value for delta in found for name, value in delta.items() if name != "type")


@given(
    secret=st.text('abcXYZ19-_/+=\\"', min_size=SHORTEST, max_size=40),
    around=st.tuples(*[st.text("pqr \n.", max_size=9)] * 2),
    cuts=st.sets(st.integers(0, 60), max_size=12),
)
def test_a_secret_that_comes_in_pieces_is_masked(secret: str, around: tuple[str, str], cuts: set[int]) -> None:
    """Wherever the stream cuts it; the events stay events, and the rest of what they say stays."""
    text = secret.join(around)
    ends = [*sorted(cut for cut in cuts if cut < len(text)), len(text)]
    stream = deltas([text[start:end] for start, end in zip([0, *ends], ends, strict=False)])
    found = masked_deltas(stream, [secret.encode()])

    assert said(found) == MASK.decode().join(around)
    assert found.count(b"event: ") == len(ends)


def test_a_logins_shape_in_pieces_is_masked_and_other_streams_stay() -> None:
    """To the byte."""
    assert said(masked_deltas(deltas(["a sk-", "ant-o", "at01-x", "yz", " b"]), [])) == "a [masked] b"
    stream = deltas(["hello ", "you ", "sk-ant-"])
    assert masked_deltas(stream, [b"12345678"]) is stream


def test_nothing_steers_a_terminal() -> None:
    """Such bytes become dots; lines stay lines."""
    assert masked("a\x9b31mb\x85".encode(), []) == b"a.31mb."
    assert masked(b"a\x1b[31mb\x7f\x00\tc\r\n\xc3\xbc", []) == b"a.[31mb..\tc\r\n\xc3\xbc"


@pytest.mark.parametrize(
    ("value", "secrets"),
    [
        (b"Bearer abcdefgh-1", {b"Bearer abcdefgh-1", b"abcdefgh-1"}),
        (b"abcdefgh", {b"abcdefgh"}),
        (
            b"a=12345678; session=87654321",
            {b"a=12345678; session=87654321", b"a=12345678", b"12345678", b"session=87654321", b"87654321"},
        ),
        (b"short", set()),
        (b"", set()),
    ],
)
def test_the_clients_own_secrets_are_what_its_fields_hold(value: bytes, secrets: set[bytes]) -> None:
    """The whole value, and what stands behind a scheme or a name."""
    assert secrets_of([(b"authorization", value)]) == secrets


def test_fields_are_masked_by_their_names() -> None:
    """Those of requests and of answers; the rest stays."""
    fields = [(b"Authorization", b"x"), (b"X-Api-Key", b"y"), (b"Set-Cookie", b"z"), (b"request-id", b"r")]
    assert [value for _, value in masked_fields(fields)] == [MASK, MASK, MASK, b"r"]
