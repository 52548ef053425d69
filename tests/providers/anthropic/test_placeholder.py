"""The placeholder is found wherever it stands."""

import base64
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.credential import SETUP_TOKEN, parse
from providers.anthropic.placeholder import PLACEHOLDER, holds, is_in_address, without


@given(st.binary(), st.binary(), st.booleans())
def test_it_is_found_whatever_stands_around_it(before: bytes, after: bytes, is_upper: bool) -> None:
    """A header's value holds it also among other things."""
    shown = PLACEHOLDER.upper() if is_upper else PLACEHOLDER

    assert holds(before + shown.encode() + after)


@pytest.mark.parametrize(
    "value",
    [
        PLACEHOLDER.replace("-", "%2D"),
        "a=" + "".join(f"%{byte:02X}" for byte in PLACEHOLDER.encode()),
        "Basic " + base64.b64encode(f"user:{PLACEHOLDER}".encode()).decode(),
        "basic " + base64.b64encode(f"{PLACEHOLDER}:".encode()).decode(),
    ],
)
def test_no_writing_hides_it(value: str) -> None:
    """Nor does a scheme that codes what it shows."""
    assert holds(value.encode())


@pytest.mark.parametrize("value", [b"Basic", b"Basic !", b"basic QQ", b"%", b"%zz", b"100%"])
def test_what_cannot_be_read_does_not_hold_it(value: bytes) -> None:
    """And makes nothing fail."""
    assert not holds(value)


FIELDS = st.lists(
    st.tuples(
        *[st.sampled_from([b"accept", b"a%b", b"Basic QQ==", PLACEHOLDER.encode(), b"x" + PLACEHOLDER.encode()])] * 2
    )
)


@given(FIELDS)
def test_a_head_loses_the_fields_that_hold_it_alone(fields: list[tuple[bytes, bytes]]) -> None:
    """In their names or their values; the others stay, in order."""
    assert without(fields) == [field for field in fields if not any(map(holds, field))]


@given(st.binary(max_size=len(PLACEHOLDER) - 1))
def test_nothing_shorter_holds_it(value: bytes) -> None:
    """A part of it is not it."""
    assert not holds(value)


@given(st.text(max_size=10), st.integers(0, 3))
def test_an_address_holds_it_however_it_is_written(around: str, times: int) -> None:
    """Percent signs hide nothing."""
    path = f"/v1/x?token={around}{PLACEHOLDER}"
    for _ in range(times):
        path = "/" + "".join(f"%{byte:02x}" for byte in path.encode()) if times == 1 else quote(path)

    assert is_in_address(path)


@pytest.mark.parametrize("path", ["", "/v1/messages?beta=true", "/%", "/\udcff%zz", "/sk-ant-oat01-flowpool"])
def test_other_addresses_do_not(path: str) -> None:
    """Also those that are no text."""
    assert not is_in_address(path)


def test_it_looks_like_a_token_of_a_subscription() -> None:
    """Claude Code takes it for one, and so do we."""
    assert parse(SETUP_TOKEN, PLACEHOLDER).access.reveal() == PLACEHOLDER
