"""credentials/redaction.py: tokens by their shape, headers of credentials to the end of the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.redaction import MASKED, redacted, without_tokens

TOKEN = "sk-ant-oat01-TEST-client-0001"
JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtYWRlLXVwIn0.c2ln"


@given(st.text(max_size=30), st.text(max_size=30))
def test_a_token_is_found_wherever_it_stands(before: str, after: str) -> None:
    """Whatever stands around it, a token does not survive."""
    assert TOKEN not in redacted(f"{before}{TOKEN} {after}")


@pytest.mark.parametrize(
    "line",
    [
        f"Invalid header line: b'Authorization Bearer {TOKEN}'",
        "Client closed connection before completing request headers: b'POST / HTTP/1.1\\r\\nX-Api-Key: s3cr3t\\r\\n'",
        "cookie: session=s3cr3t; other=s3cr3t",
        "proxy-authorization=Basic s3cr3t",
        "authorization: Bearer s3cr3t",
        "Authorization=bearer opensesame",
        "Bearer s3cr3t-and-more",
        "'BEARER abcdefghijklmnopqrst'",
        f"token {JWT} end",
    ],
)
def test_what_mitmproxy_says_of_malformed_requests_is_masked(line: str) -> None:
    """Heads that are quoted as they came lose their credentials."""
    told = redacted(line)

    assert MASKED in told
    assert not [secret for secret in (TOKEN, JWT, "s3cr3t") if secret in told]
    assert "opensesame" not in told
    assert "abcdefghij" not in told


@pytest.mark.parametrize(
    "line",
    [
        "server connect 127.0.0.1:443",
        '{"account":"work","because":"hop: home refused: 7d limit"}',
        "the authorized way",
        "Invalid bearer token",
        "the bearer token. was refused; bearer authentication, bearer authorities",
        "accounts changed: work is api-key now",
    ],
)
def test_other_lines_stay_as_they_are(line: str) -> None:
    """What holds no credential is not touched."""
    assert redacted(line) == line


@pytest.mark.parametrize("text", ["invalid x-api-key", "Authorization is missing", "your cookie is stale"])
def test_words_about_headers_are_no_tokens(text: str) -> None:
    """A message that only names a header is quoted as it is."""
    assert without_tokens(text) == text
    assert without_tokens(f"{text}: {TOKEN}") == f"{text}: {MASKED}"


@pytest.mark.parametrize("name", ["x-api-key", "X_Api_Key", "x-goog-api-key"])
def test_a_key_s_header_is_masked_whoever_s_it_is(name: str) -> None:
    """Services name the header of their keys much alike."""
    assert redacted(f"{name}: s3cr3t") == MASKED


@given(st.text("abcXYZ019-._~+/=", min_size=20, max_size=80))
def test_whatever_is_as_long_as_a_token_is_masked_after_bearer(token: str) -> None:
    """Even where it looks like no token that was seen."""
    assert redacted(f"bearer {token}") == f"bearer {MASKED}"
