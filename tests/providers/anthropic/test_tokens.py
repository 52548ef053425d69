"""What the token endpoint is asked, and what each of its answers means."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.renewal import Granted, Later, Refused, Reply, Systemic
from credentials.secret import Secret
from providers.anthropic import tokens

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SENT = Secret("sk-ant-ort01-PLANTED-1")
HOURS, DAYS = 3600, 86_400
FULL = {
    "token_type": "Bearer",
    "access_token": "sk-ant-oat01-PLANTED-2",
    "expires_in": 8 * HOURS,
    "refresh_token": "sk-ant-ort01-PLANTED-2",
    "refresh_token_expires_in": 29 * DAYS,
    "scope": "user:inference user:profile",
    "account": {"uuid": "u-1", "email_address": "me@example.com"},
    "organization": {"uuid": "o-1", "name": "Acme"},
}


def read(status: int, said: Any, headers: dict[str, str] | None = None) -> Reply:
    """Read an answer; bytes stand for themselves."""
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return tokens.read(status, headers or {}, body, NOW, SENT)


def test_the_question_is_small() -> None:
    """Three headers and three fields; who asks is said openly."""
    assert dict(tokens.fields("1.2")) == {
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "flowpool/1.2",
    }
    assert json.loads(tokens.body(SENT)) == {
        "grant_type": "refresh_token",
        "refresh_token": SENT.reveal(),
        "client_id": "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
    }


def test_a_whole_answer() -> None:
    """All that it tells is taken."""
    assert read(200, FULL) == Granted(
        access=Secret("sk-ant-oat01-PLANTED-2"),
        refresh=Secret("sk-ant-ort01-PLANTED-2"),
        expires_at=NOW + timedelta(hours=8),
        refresh_expires_at=NOW + timedelta(days=29),
        owner="u-1",
        organization="o-1",
        email="me@example.com",
        organization_name="Acme",
        extras={"scopes": ("user:inference", "user:profile")},
    )


def test_a_bare_answer() -> None:
    """An access token alone: the refresh token stays, and the usual eight hours are meant."""
    assert read(200, {"access_token": "sk-ant-oat01-PLANTED-2"}) == Granted(
        access=Secret("sk-ant-oat01-PLANTED-2"), expires_at=NOW + timedelta(hours=8)
    )


MS = NOW.timestamp() * 1000
LIVES = [  # what is said of the end, seconds that are believed
    ({"expires_in": 60}, 60),
    ({"expires_in": 59}, 8 * HOURS),
    ({"expires_in": 31_536_000}, 31_536_000),
    ({"expires_in": 401 * DAYS}, 8 * HOURS),
    ({"expires_in": 28_800_000}, 28_800_000),  # 333 days: cannot be told from a long life
    ({"expires_in": -1}, 8 * HOURS),
    ({"expires_in": True}, 8 * HOURS),
    ({"expires_in": "28800"}, 8 * HOURS),
    ({"expires_at": MS + 7_200_000}, 2 * HOURS),
    ({"expires_at": MS / 1000}, 8 * HOURS),
    ({"expires_at": "soon"}, 8 * HOURS),
    ({"expires_in": 600, "expires_at": MS + 7_200_000}, 600),
    ({"expires_in": None}, 8 * HOURS),
    ({"expires_in": 10**400, "expires_at": 10**400}, 8 * HOURS),
]


@pytest.mark.parametrize(("said", "seconds"), LIVES, ids=range(len(LIVES)))
def test_the_end_of_an_access_token(said: dict[str, Any], seconds: float) -> None:
    """What cannot be is taken for the usual."""
    found = read(200, {"access_token": "sk-ant-oat01-PLANTED-2"} | said)
    assert isinstance(found, Granted)
    assert found.expires_at - NOW == timedelta(seconds=seconds)


NONSENSE = [
    b"",
    b"<html>",
    b"[" * 99_999,
    [],
    {},
    {"access_token": 7},
    {"access_token": ""},
    {"access_token": "short"},
    {"access_token": "with a space in it"},
    {"access_token": "x" * 9000},
    {"error": "invalid_grant"},
]


@pytest.mark.parametrize("refresh", [7, "", None, "short", "with a space in it"])
def test_a_good_access_token_is_not_thrown_away(refresh: Any) -> None:
    """What stands beside it may be nonsense; the old refresh token stays then."""
    found = read(200, FULL | {"refresh_token": refresh})
    assert isinstance(found, Granted)
    assert (found.access.reveal(), found.refresh) == (FULL["access_token"], None)


@pytest.mark.parametrize("said", NONSENSE, ids=range(len(NONSENSE)))
def test_a_good_status_alone_is_no_login(said: Any) -> None:
    """It decides nothing."""
    assert isinstance(read(200, said), Later)


REFUSED = [
    (400, {"error": "invalid_grant", "error_description": "Refresh token not found or invalid"}),
    (401, {"error": "invalid_grant"}),
    (400, {"error": {"type": "invalid_grant"}}),
    (400, {"type": "error", "error": {"type": "invalid_request_error", "message": "invalid_grant: not found"}}),
    (401, {"error": {"code": "refresh_token_reused", "message": "used"}}),
    (401, {"error": {"code": "refresh_token_expired"}}),
    (401, {"error": {"code": "refresh_token_invalidated"}}),
    (401, {"code": "refresh_token_reused"}),
]
SYSTEMIC = [
    (401, {"error": "invalid_client", "error_description": "Unknown client"}),
    (400, {"error": {"type": "invalid_client"}}),
    (400, {"error": "unauthorized_client"}),
    (403, {"error": "unauthorized_client"}),
    (400, {"error": "unsupported_grant_type"}),
]
LATER = [
    (400, {"error": "invalid_request"}),
    (400, {"error": {"type": "invalid_request_error", "message": "your invalid_grant is fine"}}),
    (400, {}),
    (400, b"invalid_grant"),
    (401, {"error": {"type": "authentication_error", "message": "who are you"}}),
    (401, b""),
    (403, {"error": "invalid_grant"}),
    (403, b"<html>blocked</html>"),
    (404, {}),
    (429, {"error": {"type": "rate_limit_error"}}),
    (500, {"error": "invalid_grant"}),
    (500, {"error": "invalid_client"}),
    (503, b""),
    (529, {"error": {"type": "overloaded_error", "message": "Overloaded"}}),
    (302, b""),
    (204, b""),
]
MEANINGS = [
    (kind, *case) for kind, cases in ((Refused, REFUSED), (Systemic, SYSTEMIC), (Later, LATER)) for case in cases
]


@pytest.mark.parametrize(("kind", "status", "said"), MEANINGS, ids=range(len(MEANINGS)))
def test_what_a_refusal_means(kind: type[Reply], status: int, said: Any) -> None:
    """Only an error that is named ends a login; only one of ours blames nobody."""
    assert type(read(status, said)) is kind


WAITS = [
    ("45", 45),
    ("0", 0),
    ("Mon, 30 Nov 2026 12:01:00 GMT", 60),
    ("7200", HOURS),
    ("Tue, 01 Dec 2026 12:00:00 GMT", HOURS),
    ("soon", None),
    ("-3", None),
    ("", None),
]


@pytest.mark.parametrize("status", [429, 503, 400])
@pytest.mark.parametrize(("text", "seconds"), WAITS)
def test_a_retry_after_is_obeyed(status: int, text: str, seconds: float | None) -> None:
    """As seconds or as a date, for an hour at the most."""
    found = read(status, {}, {"retry-after": text})
    assert isinstance(found, Later)
    assert found.retry_after == (None if seconds is None else timedelta(seconds=seconds))


def test_the_reason_is_for_a_screen() -> None:
    """On one line, short, and without the token."""
    said = {"error": "invalid_grant", "error_description": f"no\n{SENT.reveal()} Bearer abc.def.123456789 {'x' * 999}"}
    found = read(400, said)
    assert isinstance(found, Refused)
    assert found.because.startswith("400: no [masked] Bearer [masked] xxx")
    assert len(found.because) < 220
    assert read(500, {"error": "oops"}) == Later("500: oops")
    assert read(500, b"") == Later("500")


@given(
    st.integers(100, 599),
    st.binary(max_size=99)
    | st.recursive(
        st.none() | st.text() | st.floats() | st.booleans(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from([*FULL, "error", "message", "type", "code", "expires_at"]), inner)
        ),
    ).map(lambda tree: json.dumps(tree).encode()),
    st.text(max_size=20),
)
def test_no_answer_is_a_fault(status: int, body: bytes, wait: str) -> None:
    """Whatever comes, it is one of the four."""
    assert isinstance(read(status, body, {"retry-after": wait}), Granted | Refused | Systemic | Later)
