"""The provider is asked whose a login is, where that may tell anything."""

import json
from dataclasses import replace

import pytest

from credentials.credential import Credential, parse
from flowpool.intake import whose
from routing.words import Identity
from tests.flowpool.proxy import listening, reply

PLANTED = "sk-ant-oat01-PLANTED-whose"
SAID = {"account": {"uuid": "u-1", "email": "me@example.org"}, "organization": {"uuid": "o-1", "name": "\x1b[2J"}}
LOGIN = parse("oauth", json.dumps({"accessToken": PLANTED, "scopes": ["user:inference", "user:profile"]}))


def test_a_login_is_asked_about_once() -> None:
    """With its access token; what comes back is kept as far as it can be."""
    heard: list[bytes] = []
    with listening(reply(json.dumps(SAID).encode()), heard) as address:
        assert whose.ask(f"http://{address}", LOGIN) == Identity(
            owner="u-1", organization="o-1", email="me@example.org"
        )

    (request,) = heard
    lines = request.decode().split("\r\n")
    assert lines[0] == "GET /api/oauth/profile HTTP/1.1"
    assert {f"authorization: Bearer {PLANTED}", "anthropic-beta: oauth-2025-04-20"} < set(lines)


def test_a_scope_that_is_not_told_may_do() -> None:
    """An access token alone does not say what it is for."""
    heard: list[bytes] = []
    with listening(reply(b"", "403 No"), heard) as address:
        assert whose.ask(f"http://{address}", parse("oauth", PLANTED)) == Identity()

    assert len(heard) == 1


@pytest.mark.parametrize(
    "credential",
    [
        parse("setup-token", PLANTED),
        parse("api-key", "sk-ant-api03-PLANTED"),
        replace(LOGIN, extras={"scopes": ("user:inference",)}),
    ],
    ids=["setup-token", "api-key", "scope"],
)
def test_who_would_be_refused_is_not_asked_about(credential: Credential) -> None:
    """A setup token's scope does not allow it, and a key is nobody's."""
    heard: list[bytes] = []
    with listening(reply(json.dumps(SAID).encode()), heard) as address:
        assert whose.ask(f"http://{address}", credential) == Identity()

    assert heard == []


def test_silence_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor does a closed port: unknown, and no fault (X22)."""
    monkeypatch.setattr(whose, "PATIENCE", 0.05)
    with listening(None, []) as address:
        assert whose.ask(f"http://{address}", LOGIN) == Identity()

    assert whose.ask(f"http://{address}", LOGIN) == Identity()
