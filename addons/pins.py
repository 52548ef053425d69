"""Pins: what an instruction of the command line asks for, and the account that a client was launched to use."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from routing.observations import Pinned
from routing.pins import LONGEST_SESSION, SESSION_RULE, is_session
from routing.router import Router
from routing.words import Account, AccountId, Demand

MOST_WARNED = 1_000
LONGEST = 32  # letters of a name that is quoted: a longer one is none

logger = logging.getLogger(__name__)


def read(body: Mapping[str, Any], known: Mapping[AccountId, Account], router: Router, now: datetime) -> Pinned:
    """Read an instruction; raises ValueError, which says what it should be, and names the accounts that can be pinned."""
    accounts, session = body.get("accounts"), body.get("session")
    if not isinstance(accounts, list) or not all(isinstance(one, str) for one in accounts):
        raise ValueError('"accounts" must be a list of ids')
    if session is not None and not (isinstance(session, str) and is_session(session)):
        raise ValueError(f'"session" must be {SESSION_RULE}')
    if session is not None and len(accounts) > 1:
        raise ValueError("a session is pinned to one account")
    unfit = [f"{_name(known, one)} {why}" for one in accounts if (why := router.why_not_pinned(AccountId(one)))]
    if unfit:
        raise ValueError(f"{', '.join(unfit)}; {_fit(known.values(), router)}")
    return Pinned(
        accounts=tuple(map(AccountId, accounts)),
        at=now,
        session=session,
        moves=body.get("moves") is True,
        forces=body.get("forces") is True,
    )


def _name(known: Mapping[AccountId, Account], account: str) -> str:
    found = known.get(AccountId(account))
    return "an account" if found is None else found.name


def _fit(known: Iterable[Account], router: Router) -> str:
    names = ", ".join(account.name for account in known if not router.why_not_pinned(account.id))
    return f"these can be pinned: {names}" if names else "none can be pinned"


class Launches:
    """Finds whom a launch names; one that cannot serve is passed over, and said once for each session."""

    def __init__(self, router: Router, accounts: Mapping[AccountId, Account]) -> None:
        self._router = router
        self._accounts = accounts
        self._warned: dict[tuple[str, str], None] = {}

    def heed(self, demand: Demand, name: str) -> Demand:
        """Add what the launch asks for to the demand; name: as the client sent it."""
        account = next((one for one in self._accounts.values() if one.name == name), None)
        why = "is not there" if account is None else self._router.why_not_pinned(account.id)
        if account is not None and not why:
            return replace(demand, pin=account.id)
        self._warn(demand.session or demand.conversation or "", name, why)
        return demand

    def _warn(self, session: str, name: str, why: str) -> None:
        key = session[:LONGEST_SESSION], name[: LONGEST + 1]
        if key in self._warned:
            return
        self._warned[key] = None
        if len(self._warned) > MOST_WARNED:
            del self._warned[next(iter(self._warned))]
        shown = name if len(name) <= LONGEST and name.isprintable() and "sk-" not in name else "(hidden)"
        logger.warning(
            "flowpool: a client was launched to use the account %s, which %s; it gets any; %s",
            shown,
            why,
            _fit(self._accounts.values(), self._router),
        )
