"""Who shows a key is let in, whichever key and whichever way; nothing that is only like it opens anything."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.admission_key import is_one_of, shown
from credentials.secret import Secret

KEY = Secret("Kq3nJf6vM0Xy2bT8dRw5Lz9pHc1sGa7uEoViYtNmQxA")
OTHER = Secret("another-key-that-is-as-long-as-the-first-one")


def basic(user: str, password: str, scheme: str = "Basic") -> http.Headers:
    """What a client sends to a proxy whose address has a user and a password."""
    coded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return http.Headers(((b"proxy-authorization", f"{scheme} {coded}".encode()),))


@pytest.mark.parametrize("key", [KEY, OTHER])
@pytest.mark.parametrize("user", ["flowpool", "", "anybody"])
@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC"])
def test_a_key_that_is_shown_is_seen(key: Secret, user: str, scheme: str) -> None:
    """In its own field, or as the password of a proxy's; field names are read in any case."""
    assert shown({"x-flowpool-key": key.reveal()}, KEY, OTHER)
    assert shown(http.Headers(((b"X-Flowpool-Key", key.reveal().encode()),)), KEY, OTHER)
    assert shown(basic(user, key.reveal(), scheme), KEY, OTHER)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-flowpool-key": ""},
        {"x-flowpool-key": "wrong"},
        {"x-flowpool-key": f"{KEY.reveal()}, {KEY.reveal()}"},
        {"x-flowpool-key": KEY.reveal().swapcase()},
        {"x-flowpool-key": KEY.reveal()[:-1]},
        {"authorization": f"Bearer {KEY.reveal()}"},
        {"proxy-authorization": f"Bearer {KEY.reveal()}"},
        {"proxy-authorization": f"Basic {KEY.reveal()}"},
        {"proxy-authorization": "Basic %%%"},
        {"proxy-authorization": "Basic"},
        {"proxy-authorization": "Basic " + base64.b64encode(KEY.reveal().encode()).decode()},
        dict(basic(KEY.reveal(), "wrong")),
        dict(basic("user", f"{KEY.reveal()}x")),
    ],
)
def test_what_is_only_like_a_key_opens_nothing(headers: dict[str, str]) -> None:
    """Neither a part of it, nor two, nor in another place."""
    assert not shown(headers, KEY, OTHER)


def test_no_key_is_shown_where_there_is_none() -> None:
    """Whoever asks for none must not take that for one that was shown."""
    assert not shown({"x-flowpool-key": ""})


@given(st.text())
def test_any_text_is_compared(text: str) -> None:
    """Whatever bytes a header holds; only the key itself is it."""
    assert is_one_of(text, KEY) is (text == KEY.reveal())


@given(st.binary())
def test_any_header_is_read(value: bytes) -> None:
    """No bytes in a header make it fail."""
    fields = ((b"proxy-authorization", b"Basic " + value), (b"x-flowpool-key", value))
    assert not shown(http.Headers(fields), KEY)
