"""`flowpool refresh` as real processes: nothing is spent twice, and no login is lost, whoever is killed when."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from credentials import renewer
from credentials.credential import Credential
from credentials.file import FileStore
from credentials.renewer import Outcome
from credentials.renewing import Errand, Renewing
from flowpool import worker
from home import accounts as book
from home import keeping
from home.paths import Home
from home.state import reader, renewals
from home.state.renewals import Renewals
from routing.words import Account
from tests import command
from tests.e2e.harness import ROOT, Member, Proxy
from tests.home.state.made import raw
from tests.thorough import amount
from tests.upstream import Upstream
from tests.upstream.vendor import TokenEndpoint, invalid_client, too_many

LONG = 30.0  # seconds; a bound for what takes one


@dataclass
class Desk:
    """A home with logins and no proxy, and the endpoint that renews them."""

    proxy: Proxy
    upstream: Upstream
    endpoint: TokenEndpoint
    folder: Path

    @property
    def home(self) -> Home:
        """Its folders."""
        return Home(config_folder=self.proxy.home, state_folder=self.proxy.home)

    def log_in(self, *names: str) -> None:
        """Begin with these accounts, each with a pair of its own."""
        pairs = {name: self.endpoint.issue(name) for name in names}
        members = [
            Member(name=name, kind="oauth", secret=self.endpoint.login_file(pair)) for name, pair in pairs.items()
        ]
        self.proxy.write_config()
        self.proxy.write_accounts(*members)

    def start(self, *names: str) -> subprocess.Popen[bytes]:
        """Start `flowpool refresh NAMES`."""
        line = [sys.executable, "-m", "flowpool", "refresh", *names]
        pipe = subprocess.PIPE
        return subprocess.Popen(line, env=self.proxy.env(), cwd=ROOT, stdout=pipe, stderr=pipe, start_new_session=True)

    def run(self, *names: str, code: int = 0) -> str:
        """Run it to its end; what it showed, and no secret in it."""
        text = command.shown(("refresh", *names), self.proxy.env(), code=code)
        assert "TEST-" not in text
        return text

    def account(self, name: str = "work") -> Account:
        """An account as accounts.toml has it now."""
        return next(one for one in book.load(self.home.accounts) if one.name == name)

    def stored(self, name: str = "work") -> Credential:
        """What the store has of it."""
        return FileStore(self.home.secrets).get(self.account(name).id)

    def is_alive(self, name: str = "work") -> bool:
        """Whether the store has the pair that the endpoint gave last."""
        stored, latest = self.stored(name), self.endpoint.latest[name]
        assert stored.refresh is not None
        return (stored.access.reveal(), stored.refresh.reveal()) == (latest.access, latest.refresh)

    def worker_pid(self) -> int:
        """The process that holds the claim."""
        with raw(self.home.state) as connection:
            holder: str = connection.execute("SELECT holder FROM claims").fetchone()[0]
        return int(holder.partition("-")[0])

    def renew(self, account: Account, gap: timedelta, sleep: Callable[[float], None] = time.sleep) -> Outcome:
        """Do what a worker does, in this process."""
        store, journal = FileStore(self.home.secrets), Renewals(self.home.state, gap=gap)
        renewing = Renewing(
            errand=Errand(account_id=account.id, provider=account.provider),
            journal=journal,
            store=store,
            ask=lambda refresh: worker.ask(self.endpoint.url, refresh),
            keep=lambda handed: keeping.keep(self.home.accounts, store, account, handed),
            sleep=sleep,
        )
        outcome = renewing.run()
        journal.close()
        return outcome

    def keep(self, handed: renewer.Handed) -> Outcome:
        """Keep a pair as the parent does."""
        return keeping.keep(self.home.accounts, FileStore(self.home.secrets), self.account(), handed)


def end(process: subprocess.Popen[bytes], code: int = 0) -> str:
    """Wait for a command."""
    out, err = process.communicate(timeout=2 * LONG)
    shown = (out + err).decode()
    assert process.returncode == code, shown
    assert "TEST-" not in shown
    return shown


def until(what: Callable[[], bool]) -> None:
    """Return once it is so."""
    deadline = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < deadline, "that did not come about"
        time.sleep(0.02)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk whose endpoint exchanges each token once; nothing in the home tells a token but the store."""
    with Upstream() as upstream:
        desk = Desk(Proxy(tmp_path, upstream), upstream, TokenEndpoint(upstream), tmp_path)
        yield desk
        assert upstream.faults == []
        assert max(desk.endpoint.spent.values(), default=0) <= 1
        assert not any(call.overlapped for call in desk.endpoint.calls)
        assert not [place for call in desk.endpoint.calls[-9:] for place in desk.proxy.leaks(call.refresh)]


def test_a_login_is_renewed(desk: Desk) -> None:
    """The line says for how long; the question has no header but those that it needs, and whose it is is kept."""
    desk.log_in("work")
    shown = desk.run("work")
    assert shown.startswith("work: renewed; access until ")
    assert desk.is_alive()
    (asked,) = desk.upstream.requests
    assert {name.lower() for name in asked.names()} == {
        *("host", "connection", "accept-encoding", "content-length"),
        *("content-type", "accept", "user-agent"),
    }
    assert (asked.header("user-agent") or "").startswith("flowpool/")
    identity = desk.account().identity
    assert (identity.owner, identity.organization) == ("owner-of-work", "organization-of-work")
    assert reader.renewals(desk.home.state)[desk.account().id].outcome == "kept"
    assert desk.run("work").startswith("work: not renewed, as it was renewed just now; ")
    assert len(desk.endpoint.calls) == 1


def test_two_processes_spend_one_token(desk: Desk) -> None:
    """X10: both end well, and the store has the endpoint's latest."""
    desk.log_in("work")
    shown = [end(process) for process in [desk.start("work"), desk.start("work")]]
    assert sorted(line.partition(";")[0].split(", ")[0] for line in shown) == ["work: not renewed", "work: renewed"]
    assert [call.status for call in desk.endpoint.calls] == [200]
    assert desk.is_alive()


def test_a_process_that_waits_for_its_turn_spends_nothing(desk: Desk) -> None:
    """X10: while another process asks; the pair that came is found in the store."""
    desk.log_in("work")
    desk.endpoint.script(lambda received: desk.endpoint.exchange(received).late("answer"))
    first = desk.start("work")
    desk.upstream.wait_held("answer", LONG)

    def wait(seconds: float) -> None:
        desk.upstream.release("answer")  # not before the other waits
        time.sleep(seconds)

    assert desk.renew(desk.account(), timedelta(0), wait) == Outcome("current", "another program renewed it")
    assert end(first).startswith("work: renewed; ")
    assert [call.status for call in desk.endpoint.calls] == [200]
    assert desk.is_alive()


def test_three_accounts_are_renewed_one_after_another(desk: Desk) -> None:
    """X11, X04: by three commands at once, never two in the same second, and no pair is lost."""
    desk.log_in("one", "two", "three")
    for process in [desk.start(name) for name in ("one", "two", "three")]:
        end(process)
    moments = [call.at for call in desk.endpoint.calls]
    assert len(moments) == 3
    assert all(later - sooner > 1 for sooner, later in itertools.pairwise(moments))
    assert all(desk.is_alive(name) for name in ("one", "two", "three"))


def test_six_accounts_at_once_never_overlap(desk: Desk) -> None:
    """The same with a small pause, by six workers, each with a connection and a store of its own."""
    names = [f"n{number}" for number in range(6)]
    desk.log_in(*names)
    outcomes: list[Outcome] = []

    def renew(account: Account) -> None:
        outcomes.append(desk.renew(account, timedelta(seconds=0.05)))

    threads = [threading.Thread(target=renew, args=(desk.account(name),)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert [outcome.name for outcome in outcomes] == ["renewed"] * 6
    moments = [call.at for call in desk.endpoint.calls]
    assert len(moments) == 6
    assert not any(call.overlapped for call in desk.endpoint.calls)
    assert all(desk.is_alive(name) for name in names)


@pytest.mark.timeout(300)
def test_a_kill_of_the_worker_at_any_write_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parent keeps what the worker left, or the next worker asks again; each token is exchanged once."""
    monkeypatch.setattr(renewals, "GAP", timedelta(0))
    monkeypatch.setattr(worker, "say", lambda _line: None)
    kept_by_parent, survived = 0, desk.folder / "survived"
    for at in range(1, 200, amount(4, 1)):
        if desk.home.config_folder.exists():
            shutil.rmtree(desk.home.config_folder)
        desk.endpoint.end("work")
        desk.log_in("work")
        args = renewer.command(desk.account().id)[4:]
        mortal = [sys.executable, "-m", "tests.e2e.mortal", str(at), str(survived), *args]
        calls = len(desk.endpoint.calls)
        outcome = renewer.run(mortal, desk.keep, desk.proxy.env() | {"PYTHONPATH": str(ROOT)})
        assert outcome.name == "renewed" or "(-9)" in outcome.because, outcome
        assert len(desk.endpoint.calls) - calls <= 1
        if outcome.name == "renewed":
            assert desk.is_alive(), at
            last = reader.renewals(desk.home.state).get(desk.account().id)
            kept_by_parent += last is not None and last.outcome == "sent"
        again = worker._renew(desk.home, desk.account().id, is_due_only=False, is_asked_for=False)
        assert again.name == "renewed", (at, again)
        assert desk.is_alive(), at
        if survived.exists():
            break
    assert all(call.status == 200 for call in desk.endpoint.calls)
    assert survived.exists()
    assert kept_by_parent >= amount(1, 5)


def test_a_kill_of_the_parent_loses_nothing(desk: Desk) -> None:
    """The worker lives on, whatever signal the terminal sends it meanwhile, and keeps the pair by itself."""
    desk.log_in("work")
    desk.endpoint.script(lambda received: desk.endpoint.exchange(received).late("answer"))
    parent = desk.start("work")
    desk.upstream.wait_held("answer", LONG)
    pid = desk.worker_pid()
    assert pid != parent.pid
    os.killpg(parent.pid, signal.SIGKILL)
    parent.communicate(timeout=LONG)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(pid, number)
    assert not desk.is_alive()
    desk.upstream.release("answer")
    until(desk.is_alive)
    until(lambda: reader.renewals(desk.home.state)[desk.account().id].outcome == "kept")


def test_a_retry_after_is_obeyed(desk: Desk) -> None:
    """X03: one call; until then also a person is told to wait; the access token goes on being kept."""
    desk.log_in("work")
    before = desk.stored()
    desk.endpoint.script(too_many(45))
    assert "work: not renewed: 429: Rate limited." in desk.run("work", code=1)
    shown = desk.run("work", code=1)
    assert shown.startswith("work: not renewed: anthropic is not to be asked before ")
    assert shown.endswith("; run: flowpool refresh work\n")
    assert len(desk.endpoint.calls) == 1
    assert desk.stored() == before
    renewal = reader.renewals(desk.home.state)[desk.account().id]
    assert renewal.retry_at is not None
    assert renewal.retry_at - renewal.at == timedelta(seconds=45)


def test_invalid_grant_is_final(desk: Desk) -> None:
    """The token is sent once, whatever runs later; logging in anew ends that."""
    desk.log_in("work")
    desk.endpoint.end("work")
    for _ in range(2):
        shown = desk.run("work", code=1)
        assert shown == (
            "work: its login has ended (400: Refresh token not found or invalid); run: flowpool login work\n"
        )
    assert [call.status for call in desk.endpoint.calls] == [400]
    desk.log_in("work")
    assert "work: renewed" in desk.run("work")


def test_invalid_client_blames_no_account(desk: Desk) -> None:
    """Both live on, and are renewed once the endpoint takes us again; without a name, all are."""
    desk.log_in("work", "home")
    desk.endpoint.script(invalid_client(), invalid_client())
    shown = desk.run(code=1)
    for name in ("work", "home"):
        assert f"{name}: not renewed: anthropic does not accept how flowpool asks (401: Unknown client)" in shown
    assert desk.run().count(": renewed; ") == 2
    assert desk.is_alive("work")
    assert desk.is_alive("home")


def test_another_programs_pair_is_taken_over(desk: Desk) -> None:
    """A newer one before ours is spent; after ours was refused, too; an older one never."""
    desk.log_in("work")
    source = desk.folder / "claude" / ".credentials.json"
    source.parent.mkdir()
    book.edit(desk.home.accounts, lambda known: tuple(replace(one, source=str(source)) for one in known))
    source.write_text(desk.endpoint.login_file(desk.endpoint.issue("work"), 3600))
    assert "work: renewed" in desk.run("work")
    desk.endpoint.end("work")
    source.write_text(desk.endpoint.login_file(desk.endpoint.issue("work"), 40_000))
    assert f"work: took over the newer login of {source}; " in desk.run("work")
    assert desk.is_alive()
    assert [call.status for call in desk.endpoint.calls] == [200]


def test_somebody_elses_pair_is_refused(desk: Desk) -> None:
    """X13: what the endpoint gives belongs to another owner; nothing is written, and both are named."""
    desk.log_in("work")
    desk.run("work")
    before = desk.stored()
    desk.endpoint.identity["work"] = ("owner-of-home", "organization-of-home")
    outcome = renewer.run(renewer.command(desk.account().id), desk.keep, desk.proxy.env())
    assert outcome.name == "failed"
    for said in ("work@example.com", "used up"):
        assert said in outcome.because
    assert desk.stored() == before
    assert "its login has ended (what came is the login of " in desk.run("work", code=1)


def test_disabled_accounts_are_kept_alive(desk: Desk) -> None:
    """And what cannot be renewed is left alone."""
    desk.log_in("work")
    member = Member(name="token", secret="sk-ant-oat01-plain-setup-token")
    work = replace(desk.proxy.members["work"], enabled=False)
    desk.proxy.write_accounts(work, member)
    assert desk.run().count("\n") == 1
    assert desk.is_alive()
    assert desk.run("token") == "token: a setup-token without a refresh token cannot be renewed\n"
