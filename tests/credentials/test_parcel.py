"""A parcel opens with its passphrase alone, and says in one line why another does not."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credentials import parcel
from credentials.errors import BadParcel

PLANTED = b"sk-ant-oat01-PLANTED-in-a-parcel"
WORDS = "correct horse"


@pytest.fixture(scope="module")
def sealed() -> bytes:
    """A parcel."""
    return parcel.seal(PLANTED, WORDS)


@given(content=st.binary(max_size=400), words=st.text(max_size=40))
@settings(max_examples=15, deadline=None)  # each derives two keys, which is made to be slow
def test_what_is_sealed_is_unsealed(content: bytes, words: str) -> None:
    """Whatever the content and the passphrase."""
    assert parcel.unseal(parcel.seal(content, words), words) == content


def test_nothing_of_it_shows(sealed: bytes) -> None:
    """It is ASCII text with short lines, and two of one content have nothing in common but their form."""
    head, *lines = sealed.decode("ascii").splitlines()
    assert list(json.loads(head)) == ["flowpool", "version", "salt", "nonce"]
    assert max(map(len, lines)) <= 76
    assert PLANTED not in sealed
    assert PLANTED not in base64.b64decode("".join(lines))
    again = parcel.seal(PLANTED, WORDS).decode().splitlines()
    assert again[0] != head
    assert again[1:] != lines


def test_a_letter_that_is_written_in_two_ways_is_one() -> None:
    """Keyboards of different systems give different forms of one letter."""
    assert parcel.unseal(parcel.seal(PLANTED, "gr\u00fcn"), "gru\u0308n") == PLANTED


def test_line_ends_may_change_on_the_way(sealed: bytes) -> None:
    """A mail program may rewrite them."""
    assert parcel.unseal(sealed.replace(b"\n", b"\r\n"), WORDS) == PLANTED


def changed(sealed: bytes, **fields: object) -> bytes:
    """The parcel with another head."""
    head, _, body = sealed.partition(b"\n")
    return json.dumps(json.loads(head) | fields).encode() + b"\n" + body


def test_a_wrong_passphrase_is_said(sealed: bytes) -> None:
    """It cannot be told from damage."""
    with pytest.raises(BadParcel, match="the passphrase is wrong, or the file is damaged; nothing was changed; run: "):
        parcel.unseal(sealed, "Correct horse")


def test_every_byte_counts(sealed: bytes) -> None:
    """Whichever byte is changed or lost, in the head or the body, it is refused and nothing of it quoted."""
    for at in range(0, len(sealed), 7):
        for damaged in (sealed[:at], sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]):
            with pytest.raises(BadParcel) as caught:
                parcel.unseal(damaged, WORDS)
            assert "PLANTED" not in str(caught.value)


FOREIGN = [b"", b"\n", b"{}", b"[1]", b"\x00\xff", b"[" * 100_000, b'{"claudeAiOauth": {}}\n', b"PK\x03\x04"]


@pytest.mark.parametrize("data", FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_file_is_said_to_be(data: bytes) -> None:
    """It is no damaged parcel but none."""
    with pytest.raises(BadParcel, match="no file that `flowpool accounts export` wrote"):
        parcel.unseal(data, WORDS)


def test_a_newer_one_is_said_to_be(sealed: bytes) -> None:
    """Its version is the first thing that counts."""
    with pytest.raises(BadParcel, match=r"newer flowpool \(version 2\)"):
        parcel.unseal(changed(sealed, version=2, salt=7), WORDS)


def test_no_number_of_the_file_costs_memory(sealed: bytes) -> None:
    """What scrypt costs stands in the code: a head that asks for more is only another head, and so refused."""
    with pytest.raises(BadParcel, match="passphrase is wrong"):
        parcel.unseal(changed(sealed, n=2**40), WORDS)
    for salt in ("", "AAAA", "not base64!"):
        with pytest.raises(BadParcel, match="damaged"):
            parcel.unseal(changed(sealed, salt=salt), WORDS)
