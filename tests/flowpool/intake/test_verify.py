"""The provider is asked once, straight, and within its time."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from credentials.credential import Credential, parse
from flowpool.errors import Failure
from flowpool.intake import verify
from providers.anthropic.errors import fault_body
from tests.flowpool.proxy import listening, reply

PLANTED = "sk-ant-oat01-PLANTED-to-verify"
KEY = "sk-ant-api03-PLANTED-to-verify"
LATER = "; its first request will tell"
AGAIN = "flowpool login work"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)


def asked(upstream: object, credential: Credential) -> str:
    """What is said after the upstream was asked."""
    return verify.check(f"http://{upstream}", "anthropic", credential, AGAIN, NOON).says


TOKEN = parse("setup-token", PLANTED)
LOGIN = parse("oauth", json.dumps({"accessToken": PLANTED, "refreshToken": "sk-ant-ort01-PLANTED"}))


@pytest.mark.parametrize(
    ("credential", "fields"),
    [
        (TOKEN, {f"authorization: Bearer {PLANTED}", "anthropic-beta: oauth-2025-04-20"}),
        (LOGIN, {f"authorization: Bearer {PLANTED}", "anthropic-beta: oauth-2025-04-20"}),
        (parse("api-key", KEY), {f"x-api-key: {KEY}"}),
    ],
    ids=["setup-token", "oauth", "api-key"],
)
def test_one_question_on_the_credential(
    credential: Credential, fields: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One GET of the models, with the access token alone, and past every proxy that the environment names."""
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    heard: list[bytes] = []
    with listening(reply(b'{"data": []}'), heard) as address:
        assert asked(address, credential) == "checked: accepted"

    (request,) = heard
    line, *lines = request.decode().split("\r\n")
    assert line == "GET /v1/models HTTP/1.1"
    assert fields < set(lines)
    assert "anthropic-version: 2023-06-01" in lines
    assert [one for one in lines if "PLANTED" in one] == [one for one in fields if "PLANTED" in one]
    assert any(one.startswith("user-agent: flowpool/") for one in lines)


SAYS = [  # status, what is said
    ("201 Created", "not checked: {} answered 201" + LATER),
    ("302 Found\r\nLocation: http://127.0.0.1:1/", "not checked: {} answered 302" + LATER),
    ("400 Bad", "not checked: {} answered 400" + LATER),
    ("404 Not Found", "not checked: {} answered 404" + LATER),
    ("429 Too Many", "checked: not refused, but limited for now (429)"),
    ("500 Oh", "not checked: {} answered 500" + LATER),
    ("529 Overloaded", "not checked: {} answered 529" + LATER),
]


@pytest.mark.parametrize(("status", "says"), SAYS, ids=[status[:3] for status, _ in SAYS])
def test_what_is_no_refusal_is_said(status: str, says: str) -> None:
    """It is asked once, and a redirect is not followed."""
    heard: list[bytes] = []
    with listening(reply(fault_body("x", "y"), status), heard) as address:
        assert asked(address, TOKEN) == says.format(f"http://{address}")

    assert len(heard) == 1


REFUSED = [  # credential, status, the line
    (
        TOKEN,
        "401 No",
        "anthropic does not accept this setup-token (401: Invalid [masked]); nothing was saved; make a new one with `claude setup-token`, then run: flowpool login work",
    ),
    (
        LOGIN,
        "401 No",
        "anthropic does not accept this login (401: Invalid [masked]); nothing was saved; log in anew, then run: flowpool login work",
    ),
    (
        parse("api-key", KEY),
        "403 No",
        "anthropic forbids this API key (403: Invalid [masked]), as when its organisation is disabled; nothing was saved; use another organisation's, or keep this one with --no-verify; run: flowpool login work",
    ),
]


@pytest.mark.parametrize(("credential", "status", "line"), REFUSED, ids=range(len(REFUSED)))
def test_a_refusal_names_the_way_out(credential: Credential, status: str, line: str) -> None:
    """It quotes the provider, never the secret, and ends with a command."""
    body = fault_body("x", f"Invalid {credential.access.reveal()}")
    with listening(reply(body, status), []) as address, pytest.raises(Failure) as caught:
        asked(address, credential)

    assert str(caught.value) == line


def test_a_refusal_counts_though_its_words_break_off() -> None:
    """Of a refusal the status decides."""
    torn = b"HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\nzz"
    with listening(torn, []) as address, pytest.raises(Failure, match=re.escape("(401); nothing")):
        asked(address, TOKEN)


def test_nobody_there_is_said() -> None:
    """A closed port, and a name that nobody knows, are no refusal."""
    with listening(b"", []) as address:
        pass

    assert asked(address, TOKEN) == f"not checked: http://{address} is unreachable (Connection refused){LATER}"


@pytest.mark.parametrize("junk", [b"", b"hello\r\n\r\n", b"\x16\x03\x01"], ids=range(3))
def test_what_is_no_http_is_said(junk: bytes) -> None:
    """What answers otherwise says nothing of the secret."""
    with listening(junk, []) as address:
        says = asked(address, TOKEN)

    assert says.startswith(f"not checked: http://{address} is unreachable (")


def test_silence_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who accepts and says nothing costs no more than the patience."""
    monkeypatch.setattr(verify, "PATIENCE", 0.05)
    with listening(None, []) as address:
        assert asked(address, TOKEN) == f"not checked: http://{address} is unreachable (no answer within 0.05 s){LATER}"


def test_a_secret_does_not_go_to_who_has_no_certificate() -> None:
    """TLS comes first: what speaks anything else hears no secret."""
    heard: list[bytes] = []
    with listening(b"HTTP/1.1 200 OK\r\n\r\n", heard) as address:
        says = verify.check(f"https://{address}", "anthropic", TOKEN, AGAIN, NOON).says

    assert says.startswith(f"not checked: https://{address} is unreachable (")
    assert not any(b"PLANTED" in one for one in heard)


def test_a_stale_login_is_not_asked_about() -> None:
    """An access token that has expired and can be renewed would be refused, and that would say nothing of the login (X15)."""
    heard: list[bytes] = []
    stale = replace(LOGIN, expires_at=NOON - timedelta(hours=1))
    with listening(reply(b"", "401 No"), heard) as address:
        assert asked(address, stale) == verify.STALE.says
        with pytest.raises(Failure):
            asked(address, replace(stale, refresh=None))

    assert len(heard) == 1
