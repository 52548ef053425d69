"""addons/decoding.py: compressed bytes in pieces of any size, and never into more than was asked for."""

from __future__ import annotations

import gzip
import sys
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons.decoding import TooMuchError, UndecodableError, decoder

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENCODE = {
    "": lambda data: data,
    "identity": lambda data: data,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
}
SWELLING = ("gzip", "deflate", "br", "zstd")


@given(st.sampled_from(sorted(ENCODE)), st.binary(max_size=500), st.integers(1, 40))
def test_pieces_of_any_size_decode_to_the_whole(encoding: str, data: bytes, size: int) -> None:
    """However the encoded bytes are cut, their decoded pieces are the text."""
    decode = decoder(encoding)
    encoded = ENCODE[encoding](data)
    assert decode is not None

    assert b"".join(decode(encoded[i : i + size]) for i in range(0, len(encoded), size)) == data


@given(st.sampled_from(["gzip", "zstd"]), st.lists(st.binary(max_size=50), max_size=5))
def test_members_one_behind_the_other_are_one_text(encoding: str, parts: list[bytes]) -> None:
    """Each event may be a member of its own."""
    decode = decoder(encoding)
    assert decode is not None

    assert decode(b"".join(ENCODE[encoding](part) for part in parts)) == b"".join(parts)


@pytest.mark.parametrize("encoding", SWELLING)
def test_a_bomb_is_not_let_off(encoding: str) -> None:
    """A few bytes that decode to a hundred megabytes are refused, without a hundred megabytes being made of them."""
    bomb = ENCODE[encoding](b"\0" * 100_000_000)
    decode = decoder(encoding, 1000)
    assert decode is not None

    with pytest.raises(TooMuchError):
        decode(bomb)


@pytest.mark.parametrize("encoding", SWELLING)
def test_what_just_fits_is_decoded(encoding: str) -> None:
    """The cap is what is allowed, not one byte less."""
    decode = decoder(encoding, 1000)
    assert decode is not None

    assert decode(ENCODE[encoding](b"x" * 1000)) == b"x" * 1000


@pytest.mark.parametrize("encoding", SWELLING)
def test_a_lie_is_told_apart(encoding: str) -> None:
    """Plain text under an encoding's name is undecodable."""
    decode = decoder(encoding)
    assert decode is not None

    with pytest.raises(UndecodableError):
        decode(b"event: message_start\n\n" * 3)


def test_an_unknown_encoding_has_no_decoder() -> None:
    """What cannot be read in pieces is left alone."""
    assert decoder("gzip, br") is None
