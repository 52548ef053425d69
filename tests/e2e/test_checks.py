"""`flowpool add` asks the provider before it keeps anything."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import command
from tests.upstream import Reply, Upstream, bad_token, bare, closed_port, login, org_not_allowed, plant, server_error
from tests.upstream.asks import BETAS
from tests.upstream.side import MODELS

LATER = "; its first request will tell"


@dataclass
class Desk:
    """A home without a proxy, and the upstream that its config.toml names."""

    home: Path
    upstream: Upstream

    def run(self, *arguments: str, given: str = "", code: int = 0) -> str:
        """Run `flowpool ARGUMENTS`; what it showed, and its secret never."""
        environ = {"PATH": os.defpath, "HOME": str(self.home), "FLOWPOOL_HOME": str(self.home)}
        shown = command.shown(arguments, environ, given=given, code=code)
        assert "TEST-" not in shown
        return shown

    def points_at(self, url: str) -> None:
        """Write config.toml."""
        text = f'providers.anthropic.upstream = "{url}"\ncredentials.backend = "file"\n'
        (self.home / "config.toml").write_text(text)

    def files(self) -> dict[str, bytes]:
        """What is kept."""
        return {path.name: path.read_bytes() for path in self.home.iterdir()}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A home whose upstream knows no account yet."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with Upstream() as upstream:
        desk = Desk(home, upstream)
        desk.points_at(upstream.url)
        yield desk
        assert upstream.faults == []
        assert upstream.left() == {}


@pytest.mark.parametrize("kind", ["setup-token", "oauth", "api-key"])
def test_an_accepted_secret_is_kept(desk: Desk, kind: str) -> None:
    """It is asked about once, as its kind is sent, and with the beta that a subscription's token needs."""
    token = plant("work", "api-key" if kind == "api-key" else "setup-token")
    desk.upstream.add("work", token)
    given = login(token) if kind == "oauth" else token

    assert (
        desk.run("add", "work", "--kind", kind, given=given) == f"added work ({kind}, anthropic); checked: accepted\n"
    )
    (asked,) = desk.upstream.requests
    fields = {name.lower(): value for name, value in asked.headers}
    assert (asked.account, asked.method, asked.path) == ("work", "GET", MODELS)
    assert fields["anthropic-version"] == "2023-06-01"
    if kind == "api-key":
        assert (fields["x-api-key"], fields.get("authorization"), fields.get("anthropic-beta")) == (token, None, None)
    else:
        assert (fields["authorization"], fields.get("x-api-key")) == (f"Bearer {token}", None)
        assert fields["anthropic-beta"] in BETAS.split(",")


REFUSED = [  # the answer, what is said of it
    (
        bad_token("OAuth access token is invalid"),
        "does not accept this setup-token (401: OAuth access token is invalid)",
    ),
    (
        org_not_allowed(),
        "forbids this setup-token (403: OAuth authentication is currently not allowed for this organization.), as when ",
    ),
]


@pytest.mark.parametrize(("answer", "says"), REFUSED, ids=["401", "403"])
def test_a_refused_secret_changes_nothing(desk: Desk, answer: Reply, says: str) -> None:
    """A new account is not made and a replaced secret is still the old one; the line ends with what to run."""
    old, new = plant("work"), plant("anew")
    desk.upstream.add("work", old)
    desk.run("add", "work", "--kind", "setup-token", given=old)
    before = desk.files()
    desk.upstream.add("anew", new)
    desk.upstream.script("anew", answer, answer, path=MODELS)

    for arguments in (("home", "--kind", "setup-token"), ("work", "--replace", "--kind", "setup-token")):
        shown = desk.run("add", *arguments, given=new, code=1)
        assert shown.startswith(f"flowpool: anthropic {says}")
        assert "; nothing was saved; " in shown
        assert shown.endswith(f"run: flowpool add {' '.join(arguments)}\n")
        assert desk.files() == before


def test_an_unknown_secret_is_refused(desk: Desk) -> None:
    """The upstream's own door says so."""
    shown = desk.run("add", "work", "--kind", "setup-token", given=plant("stranger"), code=1)

    assert "(401: Invalid bearer token); nothing was saved" in shown
    assert not (desk.home / "accounts.toml").exists()


def test_what_is_no_verdict_on_a_secret_keeps_it(desk: Desk) -> None:
    """A limit, a fault of the server, and nobody there: saved, and said why it is not sure."""
    token = plant("work")
    desk.upstream.add("work", token)
    desk.upstream.script("work", bare(), server_error(), path=MODELS)
    nobody = f"http://127.0.0.1:{closed_port()}"

    shown = [desk.run("add", "work", "--kind", "setup-token", given=token)]
    shown += [desk.run("add", "work", "--replace", given=token)]
    desk.points_at(nobody)
    shown += [desk.run("add", "work", "--replace", given=token)]
    assert [line.partition("; ")[2] for line in shown] == [
        "checked: not refused, but limited for now (429)\n",
        f"not checked: {desk.upstream.url} answered 500{LATER}\n",
        f"not checked: {nobody} is unreachable (Connection refused){LATER}\n",
    ]


def test_a_short_lived_token_is_refused_unasked(desk: Desk) -> None:
    """The way out is `claude setup-token`."""
    for extra in ((), ("--no-verify",)):
        shown = desk.run("add", "work", "--kind", "setup-token", *extra, given="sk-ant-at01-short-lived", code=1)
        assert shown == (
            "flowpool: this is a short-lived access token; make one that lasts with `claude setup-token`; "
            "run: flowpool add work --kind setup-token\n"
        )
    assert len(desk.upstream.requests) == 0


def test_no_verify_asks_nobody(desk: Desk) -> None:
    """The secret is kept as it is."""
    shown = desk.run("add", "work", "--kind", "setup-token", "--no-verify", given=plant("stranger"))

    assert shown == f"added work (setup-token, anthropic); not checked: {LATER.removeprefix('; ')}\n"
    assert len(desk.upstream.requests) == 0


def test_a_slow_answer_is_waited_for(desk: Desk) -> None:
    """An upstream that takes its time is heard."""
    token = plant("work")
    desk.upstream.add("work", token)
    desk.upstream.script("work", bad_token().late(0.5), path=MODELS)
    begun = time.monotonic()

    assert "(401: " in desk.run("add", "work", "--kind", "setup-token", given=token, code=1)
    assert time.monotonic() - begun > 0.5
