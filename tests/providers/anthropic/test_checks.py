"""What is asked to check a credential, and what the answer means."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.redaction import MASKED
from credentials.web import Answer
from providers.anthropic import checks
from providers.anthropic.checks import LONGEST, Finding, Standing, finding, question, told
from providers.anthropic.errors import fault_body
from routing.words import Kind

SECRET = "sk-ant-oat01-PLANTED-in-a-check"
TOKENS = st.text(string.ascii_letters + string.digits + "-_", min_size=8, max_size=40)


def asked(kind: Kind, secret: str) -> dict[str, str]:
    """The headers of a question but for those that say who asks."""
    found = question("https://a.example/v1/models", kind, secret, "flowpool/1")
    assert (found.method, found.url, found.body) == ("GET", "https://a.example/v1/models", b"")
    headers = dict(found.headers)
    assert (headers.pop("user-agent"), headers.pop("accept")) == ("flowpool/1", "application/json")
    return headers


def judged(status: int, body: bytes, secret: str) -> Finding:
    """What an answer means."""
    return finding(Answer(status=status, headers={}, body=body), secret)


@pytest.mark.parametrize("kind", [Kind.OAUTH, Kind.SETUP_TOKEN])
def test_a_subscription_s_token_asks_as_a_bearer(kind: Kind) -> None:
    """It comes with its beta, and never as a key."""
    assert asked(kind, "s{}cret") == {
        "anthropic-version": "2023-06-01",
        "authorization": "Bearer s{}cret",
        "anthropic-beta": "oauth-2025-04-20",
    }


def test_an_api_key_asks_as_a_key() -> None:
    """It comes without the beta of subscriptions."""
    assert asked(Kind.API_KEY, "secret") == {"anthropic-version": "2023-06-01", "x-api-key": "secret"}
    assert checks.PATH == "/v1/models"


TABLE = {200: Standing.VALID, 401: Standing.INVALID, 403: Standing.DISABLED, 429: Standing.LIMITED}


@pytest.mark.parametrize(("status", "standing"), TABLE.items())
def test_four_answers_say_something(status: int, standing: Standing) -> None:
    """200, 401, 403 and 429, each with the vendor's words if there are some."""
    assert judged(status, b"", SECRET) == Finding(standing=standing)
    assert judged(status, fault_body("x", "Its own\nwords."), SECRET) == Finding(
        standing=standing, detail="Its own words."
    )


@given(status=st.integers(100, 999).filter(lambda status: status not in TABLE), body=st.binary(max_size=60))
def test_every_other_answer_says_nothing(status: int, body: bytes) -> None:
    """Redirects, faults of a server, and what nobody has heard of condemn no credential."""
    assert judged(status, body, SECRET).standing is Standing.UNKNOWN


@given(status=st.sampled_from(sorted(TABLE)), body=st.binary(max_size=400))
def test_any_body_is_read(status: int, body: bytes) -> None:
    """Whatever the body is, the status decides and the detail is one short printable line."""
    found = judged(status, body, SECRET)

    assert found.standing is TABLE[status]
    assert found.detail.isprintable()
    assert len(found.detail.encode()) <= LONGEST


@given(before=st.text(max_size=300), after=st.text(max_size=300), secret=TOKENS)
def test_a_detail_never_holds_the_secret(before: str, after: str, secret: str) -> None:
    """Wherever it stands, also across the place of the cut, and whatever its shape."""
    shown = told(f"{before} {secret}{after}", secret)

    assert secret not in shown
    assert len(shown.encode()) <= LONGEST
    assert shown.isprintable()


@given(padding=st.integers(1, LONGEST + 20))
def test_no_part_of_a_secret_is_left_by_the_cut(padding: int) -> None:
    """It is masked before the cut, so that no half of it stands at the end."""
    shown = told(f"{'x' * padding} {SECRET}", SECRET)
    other = told(f"{'x' * padding} {SECRET}", "another-secret")

    assert shown == other == f"{'x' * padding} {MASKED}"[:LONGEST]


@given(letters=st.text("aé€😀", max_size=300))
def test_a_detail_is_cut_between_characters(letters: str) -> None:
    """It is as long as whole characters allow."""
    shown = told(letters, SECRET)

    assert letters.startswith(shown)
    assert shown == letters or LONGEST - 3 <= len(shown.encode()) <= LONGEST


def test_what_looks_like_another_secret_is_masked_too() -> None:
    """The vendor may quote a header."""
    assert told("sent x-api-key: abc", SECRET) == f"sent {MASKED}"
    assert told("not sk-ant-api03-other either", SECRET) == f"not {MASKED} either"
