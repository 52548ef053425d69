"""`flowpool refresh` says in one line per account how it went, and tells a running proxy."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from credentials.credential import Credential
from credentials.renewer import Outcome
from flowpool import refresh
from flowpool.refresh import _said
from routing.words import Account, AccountId, Kind
from tests.credentials.journals import login
from tests.flowpool.cli import Shell, planted
from tests.flowpool.proxy import announce, listening, reply
from tests.upstream import Upstream
from tests.upstream.vendor import TokenEndpoint

WORK = Account(id=AccountId("a1"), name="work", provider="anthropic", kind=Kind.OAUTH, source="/c/.credentials.json")
SOON = datetime.now(UTC).replace(hour=12, minute=30) + timedelta(days=3)
ENDS = "; access until "
AGAIN = "; run: flowpool refresh work"

LINES = [  # outcome, the line's beginning, its end
    (Outcome("renewed"), f"renewed{ENDS}", " 12:30 UTC"),
    (Outcome("adopted"), f"took over the newer login of /c/.credentials.json{ENDS}", " 12:30 UTC"),
    (Outcome("current", "another program renewed it"), f"not renewed, as another program renewed it{ENDS}", " UTC"),
    (Outcome("none", "an api-key cannot be renewed"), "an api-key cannot be renewed", "renewed"),
    (Outcome("gone", "work was removed meanwhile"), "work was removed meanwhile", "meanwhile"),
    (Outcome("dead", "400: no"), "its login has ended (400: no)", "; run: flowpool login work"),
    (
        Outcome("waiting", "429", SOON),
        "not renewed: anthropic is not to be asked before ",
        f" 12:30 UTC (429){AGAIN}",
    ),
    (
        Outcome("systemic", "401: no client"),
        "not renewed: anthropic does not accept how flowpool asks (401: no client)",
        AGAIN,
    ),
    (Outcome("failed", "503"), "not renewed: 503", AGAIN),
    (Outcome("failed", "s cannot be written; run: df -h"), "not renewed: s cannot be written; run: df -h", "df -h"),
    (Outcome("what is this"), "not renewed: ", AGAIN),
]


@pytest.mark.parametrize(("outcome", "start", "end"), LINES, ids=range(len(LINES)))
def test_each_outcome_is_one_line(outcome: Outcome, start: str, end: str) -> None:
    """A failure's ends with the command that mends it."""
    said = _said(WORK, outcome, replace(login(1), expires_at=SOON))
    assert said.startswith(start)
    assert said.endswith(end)
    assert said.count("; run: ") == (outcome.name not in refresh.HARMLESS)


@pytest.mark.parametrize(
    ("credential", "said"),
    [
        (None, "renewed"),
        (replace(login(1), expires_at=None), "renewed"),
        (replace(login(1), expires_at=SOON, refresh_expires_at=SOON), "12:30 UTC"),
    ],
    ids=range(3),
)
def test_what_is_not_known_is_not_said(credential: Credential | None, said: str) -> None:
    """The store may be out of reach just now."""
    assert _said(WORK, Outcome("renewed"), credential).endswith(said)


@pytest.fixture
def endpoint(shell: Shell) -> Iterator[TokenEndpoint]:
    """An endpoint that the shell's home names."""
    with Upstream() as upstream:
        endpoint = TokenEndpoint(upstream)
        shell.home.mkdir(mode=0o700)
        text = f'providers.anthropic.token_url = "{endpoint.url}"\ncredentials.backend = "file"\n'
        (shell.home / "config.toml").write_text(text)
        yield endpoint
        assert upstream.faults == []


def test_the_running_proxy_is_told(shell: Shell, endpoint: TokenEndpoint) -> None:
    """It reads the secrets again at once."""
    shell.add("work", kind="oauth", secret=endpoint.login_file(endpoint.issue("work")))
    heard: list[bytes] = []
    with listening(reply(json.dumps({"reloaded": True, "notices": []}).encode()), heard) as address:
        announce(shell.home, address)
        shown = shell.run("refresh", "work")
        assert shell.run("refresh", "--worker", "--account-id", "nobody").stdout.startswith('{"outcome": "gone"')

    assert shown.stdout.startswith(f"work: renewed{ENDS}")
    assert [one.partition(b" HTTP")[0] for one in heard] == [b"POST /_flowpool/reload"]


def test_a_failure_goes_to_stderr_and_tells_nobody(shell: Shell, endpoint: TokenEndpoint) -> None:
    """Exit 1; the others are renewed all the same."""
    shell.add("dead", kind="oauth", secret=endpoint.login_file(endpoint.issue("dead")))
    endpoint.end("dead")
    shell.add("work", kind="oauth", secret=endpoint.login_file(endpoint.issue("work")))
    heard: list[bytes] = []
    with listening(reply(b"{}"), heard) as address:
        announce(shell.home, address)
        shown = shell.run("refresh", "dead", code=1)
        assert heard == []

    assert shown.stdout == ""
    assert shown.stderr.startswith("dead: its login has ended (400: ")
    shown = shell.run("refresh", code=1)
    assert shown.stdout.startswith(f"work: renewed{ENDS}")


def test_what_cannot_be_renewed_is_said(shell: Shell) -> None:
    """By name it is no failure; without a name it is left out."""
    assert shell.run("refresh").stdout == "no account has a login that can be renewed\n"
    shell.add("token", secret=planted("token"))
    assert shell.run("refresh").stdout == "no account has a login that can be renewed\n"
    assert shell.run("refresh", "token").stdout == "token: a setup-token without a refresh token cannot be renewed\n"
    assert "no account tokn; did you mean token?" in shell.run("refresh", "tokn", code=1).stderr


def test_the_workers_options_are_not_shown(shell: Shell) -> None:
    """They are for programs."""
    shown = shell.run("refresh", "--help").stdout
    assert "Renew logins now" in shown
    assert "--worker" not in shown
