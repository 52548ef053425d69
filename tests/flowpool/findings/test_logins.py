"""An account's credential is judged by its provider, and silence is never held against it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from credentials.credential import Credential, parse
from credentials.errors import NotStored
from credentials.renewal import fingerprint
from credentials.secret import Secret
from flowpool.findings import logins
from flowpool.findings.finding import Level
from flowpool.findings.refused import Refused
from providers.anthropic.errors import fault_body
from routing.words import Account, AccountId, Kind
from tests.flowpool.proxy import listening, reply

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
PLANTED = "sk-ant-oat01-PLANTED-to-check"
TOKEN = parse("setup-token", PLANTED)
LOGIN = Credential(
    kind="oauth",
    access=Secret(PLANTED),
    refresh=Secret("sk-ant-ort01-PLANTED"),
    expires_at=NOON + timedelta(hours=8),
    refresh_expires_at=NOON + timedelta(days=20),
)


def account(credential: Credential) -> Account:
    """The account that has it."""
    return Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind(credential.kind))


ANSWERS = [  # status, the level, what is said, the way out
    ("200 OK", Level.OK, "valid", ""),
    (
        "401 No",
        Level.FAIL,
        "invalid: the provider does not accept it (401: no [masked])",
        "flowpool add work --replace",
    ),
    (
        "403 No",
        Level.FAIL,
        "refused: it was revoked, or its organisation is disabled (403: no [masked])",
        "flowpool add work --replace",
    ),
    ("429 Slow", Level.OK, "not refused, but limited for now (429)", ""),
    ("500 Oh", Level.WARN, "not checked: http://{} answered 500: no [masked]", "flowpool doctor"),
    ("302 There\r\nLocation: http://127.0.0.1:1", Level.WARN, "not checked: http://{} answered 302", "flowpool doctor"),
]


@pytest.mark.parametrize(("status", "level", "says", "mend"), ANSWERS, ids=[answer[0][:3] for answer in ANSWERS])
def test_each_answer_has_its_line(status: str, level: Level, says: str, mend: str) -> None:
    """One question; the provider's words are quoted without the secret."""
    heard: list[bytes] = []
    with listening(reply(fault_body("x", f"no {PLANTED}"), status), heard) as address:
        found = logins.check(f"http://{address}", account(TOKEN), TOKEN, NOON)

    assert (found.account, found.level, found.mend) == ("work", level, mend)
    assert found.message.startswith(says.format(address))
    assert "PLANTED" not in found.message
    (asked,) = heard
    assert asked.startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert PLANTED.encode() in asked


def test_a_login_is_mended_by_a_login() -> None:
    """Other kinds get a new secret."""
    with listening(reply(b"{}", "401 No"), []) as address:
        found = logins.check(f"http://{address}", account(LOGIN), LOGIN, NOON)

    assert found.mend == "flowpool login work"


@pytest.mark.parametrize("answer", [b"", b"hello\r\n\r\n", None], ids=["closes", "no HTTP", "silent"])
def test_silence_is_a_warning_and_never_invalid(answer: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither who hangs up nor who hangs says anything of the secret; it ends in time."""
    monkeypatch.setattr(logins, "PATIENCE", 0.1)
    with listening(answer, []) as address:
        found = logins.check(f"http://{address}", account(TOKEN), TOKEN, NOON)

    assert (found.level, found.mend) == (Level.WARN, f"curl -sSI http://{address}")
    assert found.message.startswith(f"not checked: http://{address} is unreachable (")
    assert "invalid" not in found.message


NOWHERE = "http://127.0.0.1:1"
PAST = NOON - timedelta(hours=1)
UNASKED = [  # what is kept, the level, what is said, the way out
    (
        replace(LOGIN, expires_at=PAST),
        Level.SKIP,
        "stale since 2026-01-05 11:00 UTC, will be renewed; not asked",
        "flowpool refresh work",
    ),
    (
        replace(LOGIN, expires_at=PAST, refresh_expires_at=None),
        Level.SKIP,
        "stale since 2026-01-05 11:00 UTC, will be renewed; not asked",
        "flowpool refresh work",
    ),
    (
        replace(LOGIN, expires_at=PAST, refresh_expires_at=PAST),
        Level.FAIL,
        "its login ended 2026-01-05 11:00 UTC",
        "flowpool login work",
    ),
    (NotStored("a1"), Level.FAIL, "no secret is stored for account a1", "flowpool login work"),
]


@pytest.mark.parametrize(("kept", "level", "says", "mend"), UNASKED, ids=range(len(UNASKED)))
def test_what_needs_no_question_is_not_asked(
    kept: Credential | NotStored, level: Level, says: str, mend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stale access token with a refresh token is no dead one; a dead login and a missing secret are."""

    def ask(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("credentials.web.ask", ask)
    found = logins.check(NOWHERE, account(LOGIN), kept, NOON)

    assert (found.level, found.message, found.mend) == (level, says, mend)


def test_a_stale_login_that_is_known_to_have_ended_fails() -> None:
    """Nothing will refresh it; another one of the account is not meant."""
    stale = replace(LOGIN, expires_at=PAST)
    assert stale.refresh is not None
    known = Refused(fingerprint(stale.refresh), "400: gone")
    found = logins.check(NOWHERE, account(LOGIN), stale, NOON, known)

    assert (found.level, found.message, found.mend) == (
        Level.FAIL,
        "its login has ended (400: gone)",
        "flowpool login work",
    )
    assert logins.check(NOWHERE, account(LOGIN), stale, NOON, Refused("another", "x")).level is Level.SKIP


ENDS = [  # a credential that is accepted, the level, what is said of its end
    (TOKEN, Level.OK, "valid"),
    (replace(TOKEN, expires_at=NOON + timedelta(days=8)), Level.OK, "valid; its login ends 2026-01-13 12:00 UTC"),
    (replace(TOKEN, expires_at=NOON + timedelta(days=7)), Level.WARN, "valid; its login ends 2026-01-12 12:00 UTC"),
    (replace(TOKEN, expires_at=PAST), Level.WARN, "valid; its login ended 2026-01-05 11:00 UTC"),
    (
        LOGIN,
        Level.OK,
        "valid; access until 2026-01-05 20:00 UTC, then renewed; its login ends 2026-01-25 12:00 UTC",
    ),
    (
        replace(LOGIN, refresh_expires_at=NOON + timedelta(days=1)),
        Level.WARN,
        "valid; access until 2026-01-05 20:00 UTC, then renewed; its login ends 2026-01-06 12:00 UTC",
    ),
]


@pytest.mark.parametrize(("credential", "level", "says"), ENDS, ids=range(len(ENDS)))
def test_its_end_is_told_and_a_near_one_is_a_warning(credential: Credential, level: Level, says: str) -> None:
    """A week before, with what makes a new one."""
    with listening(reply(b'{"data": []}'), []) as address:
        found = logins.check(f"http://{address}", account(credential), credential, NOON)

    assert (found.level, found.message) == (level, says)
    assert bool(found.mend) is (level is Level.WARN)
