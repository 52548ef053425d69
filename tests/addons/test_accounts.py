"""Accounts: what Route and the Signer hold follows the files, at once and as a whole."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addons import accounts as module
from addons.accounts import Accounts, Live, readable
from addons.watch import Found
from credentials.credential import Credential, parse
from credentials.errors import CredentialError, KeyringBroken, Torn
from credentials.memory import MemoryStore
from credentials.secret import Secret
from home import accounts as book
from home.settings import Settings
from routing.lifetimes import Lifetime
from routing.observations import AccountsChanged, Answered, Observation
from routing.router import Router
from routing.words import Account, AccountId, Kind, Reserves
from tests.addons import made
from tests.routing.made import EXCHANGE, NOON, auth, demand

WORK, HOME, THIRD = made.accounts("work", "home", "third", kind=Kind.SETUP_TOKEN).values()
OFF = replace(WORK, enabled=False)


def secret(account: Account, nth: int = 1) -> Credential:
    """The nth secret of an account."""
    return parse("setup-token", f"{made.token(account.id)}-{nth}")


class Told(Router):
    """A Router that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(Settings().rules)
        self.told: list[Observation] = []

    def observe(self, observation: Observation) -> None:
        self.told.append(observation)
        super().observe(observation)


class Pool:
    """Accounts in the making, and how often waiting requests were woken."""

    def __init__(self, *known: Account, path: Path = Path("none"), store: MemoryStore | None = None) -> None:
        self.router, self.woken = Told(), 0
        secrets = {account.id: secret(account) for account in known}
        self.store = store or MemoryStore()
        self.accounts = Accounts(
            known, secrets, router=self.router, path=path, store=self.store, wake=self.wake, every=0.02
        )

    def wake(self) -> None:
        """Count."""
        self.woken += 1

    def refused(self, account: Account) -> None:
        """The account's login was refused, which holds it."""
        now = datetime.now(UTC)
        self.router.observe(
            Answered(exchange=EXCHANGE, account=account.id, demand=demand(), verdict=auth(), sent_at=now, at=now)
        )

    def holds(self, account: Account) -> int:
        """How many holds it has."""
        pictures = self.router.snapshot(NOON).accounts
        return next(len(picture.holds) for picture in pictures if picture.account.id == account.id)


def found(*accounts: Account, nth: int = 1, without: Iterable[Account] = ()) -> Found:
    """All that the files say of these accounts."""
    missing = {account.id for account in without}
    secrets = {a.id: None if a.id in missing else secret(a, nth) for a in accounts if a.enabled}
    return Found(accounts=accounts, credentials=secrets)


def names(pool: Pool) -> tuple[list[str], list[str]]:
    """Who may pay, and whose secret is in memory."""
    accounts = pool.accounts
    return [a.name for a in accounts.members.values()], [accounts.members[i].name for i in accounts.credentials]


some = st.lists(
    st.builds(
        lambda account, enabled, rank: replace(account, enabled=enabled, rank=rank),
        st.sampled_from((WORK, HOME, THIRD)),
        st.booleans(),
        st.none() | st.integers(0, 2),
    ),
    max_size=3,
    unique_by=lambda account: account.id,
)


@given(st.lists(st.tuples(some, st.booleans(), st.integers(1, 2)), max_size=6))
def test_the_files_always_win(steps: list[tuple[list[Account], bool, int]]) -> None:
    """Whatever changed before: accounts as the file has them, secrets of the enabled ones alone, the Router told the same."""
    pool = Pool(WORK)
    for accounts, is_slow, nth in steps:
        before = dict(pool.accounts.members)
        if is_slow:
            pool.accounts.take(Found(accounts=tuple(accounts), is_whole=False))
            for account in pool.accounts.members.values():  # nobody pays more than before while secrets are read
                ready = account.id == "client" or account.id in before or account.id in pool.accounts.credentials
                assert ready or not account.enabled
        pool.accounts.take(found(*accounts, nth=nth))
        expected = {account.id: account for account in accounts}
        assert (dict(pool.accounts.members) if accounts else {}) == expected
        assert set(pool.accounts.credentials) == {account.id for account in accounts if account.enabled}
        known = [picture.account for picture in pool.router.snapshot(NOON).accounts]
        assert known == list(pool.accounts.members.values())


@given(some)
def test_what_did_not_change_is_not_told(accounts: list[Account]) -> None:
    """Reading the same again wakes nobody and tells the Router nothing."""
    pool = Pool()
    pool.accounts.take(found(*accounts))
    woken, told = pool.woken, len(pool.router.told)
    pool.accounts.take(Found(accounts=tuple(accounts), is_whole=False))
    pool.accounts.take(found(*accounts))

    assert (pool.woken, len(pool.router.told)) == (woken, told)


CHANGES = [
    ((WORK, HOME), (WORK,), "removed home"),
    ((WORK,), (WORK, HOME), "added home"),
    ((WORK,), (OFF,), "disabled work"),
    ((OFF,), (WORK,), "enabled work"),
    ((WORK,), (replace(WORK, name="office"),), "renamed work to office"),
    ((WORK,), (replace(WORK, rank=7),), "ranked work 7"),
    ((WORK,), (replace(WORK, rank=None),), "ranked work none"),
    ((WORK,), (replace(WORK, kind=Kind.API_KEY),), "work is api-key now"),
    ((WORK,), (replace(WORK, cap=3),), "capped work at 3"),
    ((replace(WORK, cap=3),), (WORK,), "capped work at any number"),
    ((WORK,), (replace(WORK, reserves=Reserves(week=0.2)),), "work holds back 0% of 5h and 20% of the week"),
    ((WORK, HOME), (HOME, WORK), "in another order"),
    ((WORK,), (), "removed work, none is left"),
    ((), (WORK,), "added work"),
]


@pytest.mark.parametrize(("before", "now", "says"), CHANGES, ids=[case[2] for case in CHANGES])
def test_each_change_is_one_line_and_wakes_who_waits(
    before: tuple[Account, ...], now: tuple[Account, ...], says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log says what happened in a few words, and waiting requests choose again."""
    pool = Pool(*before)
    with caplog.at_level(logging.INFO):
        pool.accounts.take(found(*now))

    assert caplog.messages == [f"flowpool: accounts changed: {says}"]
    assert pool.woken == 1


def test_a_removed_or_disabled_accounts_secret_leaves_memory_at_once() -> None:
    """It goes before any other secret was read."""
    pool = Pool(WORK, HOME, THIRD)
    pool.accounts.take(Found(accounts=(OFF, THIRD), is_whole=False))

    assert names(pool) == (["work", "third"], ["third"])


def test_an_account_serves_only_once_its_secret_is_there() -> None:
    """A new one is unknown, an enabled one still disabled, a changed kind not yet in force, until the secret was read."""
    pool = Pool(OFF, HOME)
    changed = replace(HOME, kind=Kind.API_KEY)
    pool.accounts.take(Found(accounts=(WORK, changed, THIRD), is_whole=False))
    assert list(pool.accounts.members.values()) == [OFF, HOME]

    pool.accounts.take(found(WORK, changed, THIRD))
    assert list(pool.accounts.members.values()) == [WORK, changed, THIRD]


def test_a_new_secret_ends_what_the_old_one_was_refused_for(caplog: pytest.LogCaptureFixture) -> None:
    """The Router is told of each credential that differs, and of no other."""
    pool = Pool(WORK, HOME)
    for account in (WORK, HOME):
        pool.refused(account)
    with caplog.at_level(logging.INFO):
        pool.accounts.take(Found(accounts=(WORK, HOME), credentials={WORK.id: secret(WORK, 2), HOME.id: secret(HOME)}))

    assert (pool.holds(WORK), pool.holds(HOME)) == (0, 1)
    assert pool.accounts.credentials[WORK.id] == secret(WORK, 2)
    assert caplog.messages == ["flowpool: accounts changed: work has a new secret"]


def test_the_same_secret_given_again_is_a_new_one() -> None:
    """Who replaced it wants the account asked again, and may have mended something else."""
    pool = Pool(WORK, HOME)
    pool.refused(WORK)
    again = replace(secret(WORK), saved_at=2)
    pool.accounts.take(Found(accounts=(WORK, HOME), credentials={WORK.id: again, HOME.id: secret(HOME)}))

    assert (pool.holds(WORK), pool.woken) == (0, 1)


def test_an_account_without_a_secret_cannot_serve_until_it_has_one() -> None:
    """From the start and while it runs: it is held, shown and never next; the secret alone ends that, and nothing of it is kept."""
    router = Told()
    Accounts(
        (WORK, replace(HOME, enabled=False)),
        {},
        router=router,
        path=Path("none"),
        store=MemoryStore(),
        wake=lambda: None,
    )
    assert router.told == [
        AccountsChanged(
            accounts=(WORK, replace(HOME, enabled=False)), unsigned={WORK.id: "no readable secret is stored"}
        )
    ]

    pool = Pool(WORK, HOME)
    pool.accounts.take(found(WORK, HOME, without=[WORK]))
    (work, home) = pool.router.snapshot(NOON).accounts
    assert (work.state, work.because, work.holds[0].until) == ("broken", "no readable secret is stored", None)
    assert (home.holds, set(pool.router.snapshot(NOON).next.values())) == ((), {HOME.id})
    assert pool.router.remembered().holds == {}
    assert pool.accounts.lift([WORK.id]) == {WORK.id: 0}
    assert pool.holds(WORK) == 1

    pool.accounts.take(found(WORK, HOME))
    assert pool.holds(WORK) == 0


def test_a_secret_that_cannot_be_read_stays_and_one_that_is_gone_goes() -> None:
    """A locked keyring takes nothing away; a deleted secret is not used any more."""
    pool = Pool(WORK, HOME)
    pool.accounts.take(Found(accounts=(WORK, HOME), credentials={}, faults=("locked",)))
    assert names(pool) == (["work", "home"], ["work", "home"])

    pool.accounts.take(found(WORK, HOME, without=[WORK]))
    assert names(pool) == (["work", "home"], ["home"])


def test_a_fault_is_said_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    """The last good accounts stay; the line stands in `faults` for as long as it is true."""
    pool = Pool(WORK)
    broken = Found(faults=("the accounts stay as they were: x",))
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            pool.accounts.take(broken)
        assert pool.accounts.faults == broken.faults
        pool.accounts.take(Found(accounts=(WORK,), is_whole=False))
        assert pool.accounts.faults == broken.faults
        pool.accounts.take(found(WORK))

    assert names(pool) == (["work"], ["work"])
    assert pool.accounts.faults == ()
    assert caplog.messages == [f"flowpool: {broken.faults[0]}", "flowpool: the accounts can be read again"]


def test_a_removed_account_is_still_told_of() -> None:
    """Who writes the log of a request in flight finds the name of its account."""
    pool = Pool(WORK, HOME)
    ever = pool.accounts.ever
    pool.accounts.take(found(replace(HOME, name="house")))

    assert (ever[WORK.id].name, ever[HOME.id].name) == ("work", "house")


def test_lifting_ends_holds_and_wakes() -> None:
    """It says how many each account had; who was not held wakes nobody."""
    pool = Pool(WORK, HOME)
    pool.refused(WORK)
    gone = AccountId("gone")

    assert pool.accounts.lift([WORK.id, HOME.id, gone]) == {WORK.id: 1, HOME.id: 0, gone: 0}
    assert (pool.holds(WORK), pool.woken) == (0, 1)
    assert pool.accounts.lift([WORK.id]) == {WORK.id: 0}
    assert pool.woken == 1


def test_a_pin_is_told_and_wakes(caplog: pytest.LogCaptureFixture) -> None:
    """The Router knows it, who waits chooses again, and the log has a line without the session's name."""
    pool = Pool(WORK, HOME)
    with caplog.at_level(logging.INFO):
        bodies: list[dict[str, Any]] = [
            {"accounts": [HOME.id], "moves": True, "forces": True},
            {"accounts": [WORK.id], "session": "its name"},
            {"accounts": []},
        ]
        for body in bodies:
            pool.accounts.pin(pool.accounts.pinned(body))

    assert pool.woken == 3
    assert [pin.session for pin in pool.router.snapshot(NOON).pins] == ["its name"]
    assert caplog.messages == [
        "flowpool: pins changed: all to home; running conversations move; pins of sessions and launches end",
        "flowpool: pins changed: one session to work",
        "flowpool: pins changed: none for all",
    ]


def test_reloading_is_over_when_the_files_are_in_force(tmp_path: Path) -> None:
    """What was written before reload() began is true when it returns; a broken file makes it False."""
    path = tmp_path / "accounts.toml"
    pool = Pool(path=path)

    async def story() -> None:
        pool.accounts.running()
        pool.store.put(WORK.id, secret(WORK))
        book.edit(path, lambda _: (WORK,))
        assert await pool.accounts.reload()
        assert names(pool) == (["work"], ["work"])
        path.write_text("x")
        assert not await pool.accounts.reload()
        assert names(pool) == (["work"], ["work"])
        pool.accounts.done()

    asyncio.run(story())


def test_a_store_that_hangs_delays_a_reload_no_longer_than_the_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is False then, and what comes later is taken all the same."""
    monkeypatch.setattr(module, "PATIENCE", 0.01)
    pool = Pool(WORK)  # its watch never began, as if it hung

    assert asyncio.run(pool.accounts.reload()) is False


def test_the_router_is_told_of_the_accounts_at_the_start() -> None:
    """Of the client's own login when there are none."""
    assert Pool(WORK).router.told == [AccountsChanged(accounts=(WORK,), lifetimes={WORK.id: Lifetime()})]
    assert names(Pool()) == (["client"], [])


def test_why_a_secret_is_not_at_hand_is_told() -> None:
    """In the store's own words, and again when they change; who has no lock to open needs no new secret."""
    pool = Pool(WORK, HOME)
    for because in ("the keyring is locked", "the keyring hangs", "the keyring hangs"):
        told = found(WORK, HOME, without=[WORK])
        pool.accounts.take(replace(told, missing={WORK.id: because}))
        assert pool.router.snapshot(NOON).accounts[0].because == because
    assert len([one for one in pool.router.told if isinstance(one, AccountsChanged)]) == 3


def test_the_ends_of_logins_are_told_and_no_refresh_token_is_kept() -> None:
    """Of disabled accounts too, whose secrets are not kept at all."""
    pool = Pool(WORK)
    ends = NOON + timedelta(hours=8)
    login = Credential(kind="oauth", access=Secret("at"), refresh=Secret("rt"), expires_at=ends)
    off = replace(HOME, enabled=False)
    pool.accounts.take(Found(accounts=(WORK, off), credentials={WORK.id: login, off.id: login}))

    last = pool.router.told[-2]
    assert isinstance(last, AccountsChanged)
    assert last.lifetimes == dict.fromkeys((WORK.id, off.id), Lifetime(expires_at=ends, is_refreshable=True))
    assert dict(pool.accounts.credentials) == {WORK.id: replace(login, refresh=None)}
    pool.accounts.take(Found(accounts=(WORK,), credentials={WORK.id: login}))
    assert set(pool.accounts.logins) == {WORK.id}


def test_what_is_live_is_a_mapping() -> None:
    """It reads like any other mapping, and never shows half of a change."""
    live = Live({WORK.id: 1})
    seen = iter(live)
    live.become({HOME.id: 2, THIRD.id: 3})

    assert (list(seen), dict(live), len(live)) == ([WORK.id], {HOME.id: 2, THIRD.id: 3}, 2)


# The start


class Hurt(MemoryStore):
    """A store of two secrets that fails for some."""

    def __init__(self, faults: dict[str, CredentialError]) -> None:
        super().__init__()
        self._faults = faults
        for account in (WORK, HOME):
            self.put(account.id, secret(account))

    def get(self, account_id: str) -> Credential:
        if account_id in self._faults:
            raise self._faults[account_id]
        return super().get(account_id)


def test_a_secret_that_cannot_be_read_keeps_no_other_from_serving() -> None:
    """A start takes what can be read; what is not stored is left out, and who is disabled is not asked for."""
    assert readable(Hurt({WORK.id: Torn("lost a part")}), (WORK, HOME, THIRD)) == {HOME.id: secret(HOME)}
    assert readable(Hurt({}), (OFF, HOME)) == {HOME.id: secret(HOME)}
    assert readable(MemoryStore(), (WORK, HOME)) == {}


def test_a_store_that_gives_no_secret_at_all_ends_the_start() -> None:
    """Where nobody could serve, the start says why with the first fault that it met."""
    broken = KeyringBroken("the keyring did not answer within 5 s")
    with pytest.raises(KeyringBroken, match="did not answer"):
        readable(Hurt({WORK.id: broken, HOME.id: Torn("lost a part")}), (WORK, HOME))
    with pytest.raises(Torn, match=r"; run: flowpool add work --replace$"):
        readable(Hurt({WORK.id: Torn("lost a part"), HOME.id: broken}), (WORK, HOME))
