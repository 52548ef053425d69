"""Accounts: keeps the running proxy's accounts and credentials in step with the files.

Everything here happens on the event loop; the files are read elsewhere (watch.py).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, override

from addons import pins
from addons.exchange import CLIENT
from addons.logins import kept, logins_of
from addons.watch import EVERY, Found, Watch
from credentials.credential import Credential
from credentials.errors import CredentialError, NotStored
from credentials.store import Store
from providers.anthropic import ANTHROPIC
from routing.observations import AccountsChanged, CredentialChanged, HoldsLifted, Pinned
from routing.router import Router
from routing.words import Account, AccountId, Kind

UNSIGNED = "no readable secret is stored"
PATIENCE = 5.0  # seconds for a store to hand out the secrets before a reload is answered without them

logger = logging.getLogger(__name__)


class Live[V](Mapping[AccountId, V]):
    """What the proxy knows of its accounts, for those who hold it for good: its whole content is replaced at once."""

    def __init__(self, content: Mapping[AccountId, V]) -> None:
        self._content: Mapping[AccountId, V] = dict(content)

    def become(self, content: Mapping[AccountId, V]) -> None:
        """Replace everything."""
        self._content = dict(content)

    @override
    def __getitem__(self, key: AccountId) -> V:
        return self._content[key]

    @override
    def __iter__(self) -> Iterator[AccountId]:
        return iter(self._content)

    @override
    def __len__(self) -> int:
        return len(self._content)


class Accounts:
    """The accounts that may pay now, and their secrets.

    members: by id; the client alone when there are none. credentials: of enabled accounts alone, without refresh tokens.
    logins: of all accounts. ever: every account that this proxy has known, for those who tell of one that was removed. wake: lets
    waiting requests choose again.
    """

    name = "flowpool_accounts"

    def __init__(
        self,
        known: Iterable[Account],
        credentials: Mapping[AccountId, Credential],
        *,
        router: Router,
        path: Path,
        store: Store,
        wake: Callable[[], None],
        every: float = EVERY,
    ) -> None:
        known = tuple(known)
        self._router = router
        self._wake = wake
        self._faults: tuple[str, ...] = ()
        self._missing: Mapping[AccountId, str] = {}
        self._watch = Watch(path, store, self.take, every=every)
        self.members = Live(_members(known))
        self.credentials = Live({a.id: kept(credentials[a.id]) for a in known if a.enabled and a.id in credentials})
        self.logins = Live(logins_of(credentials))
        self.ever = dict(self.members)
        self._tell()

    def _tell(self) -> None:
        """Tell the Router who may pay, and who of them has no secret."""
        members = tuple(self.members.values())
        ready = self.credentials.keys() | {CLIENT}
        unsigned = {a.id: self._missing.get(a.id, UNSIGNED) for a in members if a.enabled and a.id not in ready}
        lifetimes = {account: login.lifetime for account, login in self.logins.items()}
        self._router.observe(AccountsChanged(accounts=members, unsigned=unsigned, lifetimes=lifetimes))

    def running(self) -> None:
        """Begin to look at the files."""
        self._watch.start(asyncio.get_running_loop())

    def done(self) -> None:
        """Look no more."""
        self._watch.stop()

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the files now, a line each."""
        return self._faults

    async def reload(self) -> bool:
        """Read the files now; False when that takes too long, or accounts.toml cannot be read."""
        done = asyncio.get_running_loop().create_future()
        self._watch.ask(lambda: None if done.done() else done.set_result(None))
        try:
            await asyncio.wait_for(done, PATIENCE)
        except TimeoutError:
            return False
        return not self._faults

    def lift(self, accounts: Iterable[AccountId]) -> dict[AccountId, int]:
        """End the holds of accounts; how many each had. One that is not known has none."""
        now = datetime.now(UTC)
        asked, before = tuple(accounts), self._held(now)
        for account in asked:
            self._router.observe(HoldsLifted(account=account, at=now))
        after = self._held(now)
        lifted = {account: before.get(account, 0) - after.get(account, 0) for account in asked}
        if any(lifted.values()):
            self._wake()
        return lifted

    def pin(self, wish: Pinned) -> None:
        """Take a person's wish; who waits may be served by it."""
        self._router.observe(wish)
        logger.info("flowpool: pins changed: %s", _wished(wish, self.members))
        self._wake()

    def pinned(self, body: Mapping[str, Any]) -> Pinned:
        """Read an instruction to pin; raises ValueError."""
        return pins.read(body, self.members, self._router, datetime.now(UTC))

    def _held(self, now: datetime) -> dict[AccountId, int]:
        return {picture.account.id: len(picture.holds) for picture in self._router.snapshot(now).accounts}

    def take(self, found: Found) -> None:
        """Make what the files say the truth."""
        self._say(found)
        if found.accounts is None:
            return
        accounts, credentials = self._merge(found, found.accounts)
        before, had = dict(self.members), dict(self.credentials)
        members = _members(accounts)
        fresh = [account for account, credential in credentials.items() if _is_new(credential, had.get(account))]
        is_as_before = list(before.items()) == list(members.items()) and had.keys() == credentials.keys() and not fresh
        has_learned = self._learn(found, members)
        if is_as_before:
            if has_learned:
                self._tell()
            return
        self.members.become(members)
        self.credentials.become(credentials)
        self.ever |= members
        self._tell()
        for account in fresh:
            self._router.observe(CredentialChanged(account=account, at=datetime.now(UTC)))
        logger.info("flowpool: accounts changed: %s", _told(before, members, [i for i in fresh if i in had]))
        self._wake()

    def _learn(self, found: Found, members: Mapping[AccountId, Account]) -> bool:
        """Take in what is to be known of the logins; whether anything changed."""
        if not found.is_whole:
            return False
        before = (dict(self.logins), self._missing)
        read = {account: credential for account, credential in found.credentials.items() if account in members}
        unread = {a: login for a, login in self.logins.items() if a in members and a not in found.credentials}
        self.logins.become(unread | logins_of(read))
        self._missing = found.missing
        return before != (dict(self.logins), self._missing)

    def _merge(self, found: Found, accounts: Iterable[Account]) -> tuple[list[Account], dict[AccountId, Credential]]:
        """What is to stand; an account whose secret is still being read stays as it was until then."""
        standing: list[Account] = []
        credentials: dict[AccountId, Credential] = {}
        for account in accounts:
            known = self.members.get(account.id)
            secret = found.credentials.get(account.id, self.credentials.get(account.id))
            if account.enabled and secret is not None:
                credentials[account.id] = kept(secret)
            if not account.enabled or found.is_whole:
                standing.append(account)
            elif known is not None:
                is_ready = secret is not None
                standing.append(replace(account, kind=known.kind, enabled=is_ready or known.enabled))
        return standing, credentials

    def _say(self, found: Found) -> None:
        """Log what has newly gone wrong, or is well again."""
        if not found.is_whole:
            return
        for fault in found.faults:
            if fault not in self._faults:
                logger.warning("flowpool: %s", fault)
        if self._faults and not found.faults:
            logger.info("flowpool: the accounts can be read again")
        self._faults = found.faults


def readable(store: Store, accounts: Iterable[Account]) -> dict[AccountId, Credential]:
    """The secrets of enabled accounts, for the start; why others cannot be read is said by the watch, which tries again.

    Raises CredentialError when one cannot be read and no other was: nobody could serve.
    """
    found: dict[AccountId, Credential] = {}
    faults: list[CredentialError] = []
    for account in accounts:
        if account.enabled:
            try:
                found[account.id] = store.get(account.id)
            except NotStored:
                continue
            except CredentialError as error:
                faults.append(error.naming(account.name))
    if faults and not found:
        raise faults[0]
    return found


def _is_new(credential: Credential, old: Credential | None) -> bool:
    """Whether somebody gave the account this secret since, be it the one that it had."""
    return credential != old or credential.saved_at != old.saved_at


def _members(accounts: Iterable[Account]) -> dict[AccountId, Account]:
    """The accounts by id; the client's own login when there are none."""
    members = {account.id: account for account in accounts}
    return members or {CLIENT: Account(id=CLIENT, name=CLIENT, provider=ANTHROPIC.name, kind=Kind.OAUTH)}


def _told(before: Mapping[AccountId, Account], now: Mapping[AccountId, Account], renewed: Iterable[AccountId]) -> str:
    """What happened, in a few words."""
    told = [f"removed {account.name}" for account in before.values() if account.id not in now and account.id != CLIENT]
    for account in now.values():
        old = before.get(account.id)
        if account.id == CLIENT:
            told.append("none is left")
        elif old is None:
            told.append(f"added {account.name}")
        else:
            told += _differences(old, account)
    told += [f"{now[account].name} has a new secret" for account in renewed]
    return ", ".join(told) or "in another order"


def _wished(wish: Pinned, known: Mapping[AccountId, Account]) -> str:
    """A person's wish in a few words; a session's name is the client's own."""
    of = "all" if wish.session is None else "one session"
    names = ", ".join(known[account].name for account in wish.accounts if account in known)
    told = [f"{of} to {names}" if names else f"none for {of}"]
    told += ["running conversations move"] if wish.moves else []
    return "; ".join([*told, "pins of sessions and launches end"] if wish.forces else told)


def _differences(old: Account, account: Account) -> Iterator[str]:
    if old.name != account.name:
        yield f"renamed {old.name} to {account.name}"
    if old.enabled != account.enabled:
        yield f"{'enabled' if account.enabled else 'disabled'} {account.name}"
    if old.rank != account.rank:
        yield f"ranked {account.name} {'none' if account.rank is None else account.rank}"
    if old.reserves != account.reserves:
        kept = f"{account.reserves.session:.0%} of 5h and {account.reserves.week:.0%} of the week"
        yield f"{account.name} holds back {kept}"
    if old.cap != account.cap:
        yield f"capped {account.name} at {'any number' if account.cap is None else account.cap}"
    if old.primary != account.primary:
        yield f"{account.name} is {'' if account.primary else 'no longer '}the primary"
    if old.identity != account.identity:
        yield f"learned whose login {account.name} is"
    if old.kind is not account.kind:
        yield f"{account.name} is {account.kind} now"
