"""The document of `status` without a proxy: what the files say, and what the last run left in the state."""

from collections.abc import Mapping
from datetime import datetime

from flowpool import document
from flowpool.document import Plain
from home import accounts, pictures, settings
from home.accounts import describe
from home.paths import Home
from home.state import reader
from home.state.errors import StateError
from home.version import version
from routing.observations import AccountsChanged, Restored
from routing.router import Router
from routing.rules import Rules
from routing.snapshot import State
from routing.words import AccountId

UNTOLD = frozenset({State.DISABLED, State.UNMEASURED})  # states whose reasons are others without a proxy


def draw(home: Home, now: datetime) -> Plain:
    """Draw it; a state that cannot be read is a notice in it."""
    chosen = settings.load(home.config)
    known = accounts.load(home.accounts)
    notices: tuple[str, ...] = ()
    try:
        left, pins = _left(home, known, chosen.rules, now)
    except StateError as error:
        left, pins, notices = {}, (), (f"what the last run left is not shown: {error}",)
    told = tuple(describe(account) | left.get(account.id, {}) for account in known)
    return document.without_proxy(
        version(), str(chosen.listen.claude), chosen.routing.strategy, told, notices, pins=pins
    )


def _left(
    home: Home, known: accounts.Accounts, rules: Rules, now: datetime
) -> tuple[Mapping[AccountId, Plain], tuple[Plain, ...]]:
    """Return what is remembered of each account and stands now, of its windows and holds nothing where there are none, and the pins."""
    router = Router(rules)
    router.observe(AccountsChanged(accounts=known))
    router.observe(Restored(remembered=reader.remembered(home.state), at=now))
    snapshot = router.snapshot(now)
    told = {
        picture.account.id: pictures.times(picture) if picture.state in UNTOLD else pictures.plain(picture)
        for picture in snapshot.accounts
    }
    return told, tuple(pictures.pins(snapshot))
