"""addons/record.py: what is kept of one exchange while it lasts."""

from hypothesis import given
from hypothesis import strategies as st

from addons.record import Message, Record, Tried


@given(chunks=st.lists(st.binary(min_size=1, max_size=20), max_size=20), most=st.integers(1, 100))
def test_of_a_stream_the_beginning_is_kept(chunks: list[bytes], most: int) -> None:
    """At least as much as may be kept, and little more; all of it is counted."""
    record = Record(most=most, request=Message(start="POST /"))
    for chunk in chunks:
        record.take(chunk)
    kept, whole = b"".join(record.chunks), b"".join(chunks)

    assert record.streamed == len(whole)
    assert whole.startswith(kept)
    assert min(most, len(whole)) <= len(kept) < most + 20


def test_no_copy_is_made_of_what_is_small() -> None:
    """The bytes pass anyway."""
    record, chunk = Record(most=10, request=Message(start="POST /")), b"12345678"
    record.take(chunk)
    assert record.chunks[0] is chunk
    assert record.body(chunk) is chunk
    assert record.body(b"x" * 20) == b"x" * 10
    assert record.body(None) is None


def test_once_settled_it_holds_nothing_of_mitmproxys() -> None:
    """It may wait for a disk that stands still, and its weight is all that it keeps alive."""
    answers = [object(), object()]
    record = Record(most=10, request=Message(start="POST /"), seen=object(), source=answers[1])
    record.tried += [Tried(at=None, answer=None, source=answer) for answer in answers]
    record.settle()

    assert record.same == 2
    assert {record.source, record.seen, *(tried.source for tried in record.tried)} == {None}


def test_its_weight_is_what_it_keeps_alive() -> None:
    """The question, every answer, and the stream."""
    record = Record(most=100, request=Message(start="POST /", body=b"12345"))
    record.tried += [Tried(at=None, answer=Message(start="429", body=b"1234")), Tried(at=None, answer=None)]
    record.take(b"123")

    assert record.weight == 12
