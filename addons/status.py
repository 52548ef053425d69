"""The document that `flowpool status --json` and GET /_flowpool/status give: the Router's snapshot as plain JSON."""

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from home.pictures import pins, plain
from home.settings import Settings
from home.version import version
from routing.router import Router
from routing.snapshot import AccountPicture

type Told = Callable[[AccountPicture, datetime], dict[str, Any]]


def status_of(
    router: Router, settings: Settings, listening: Callable[[], str], *tellers: Told
) -> Callable[[datetime], dict[str, Any]]:
    """The function that draws the document; listening gives host:port, tellers what else there is to say of an account."""
    running_version = version()

    def draw(now: datetime) -> dict[str, Any]:
        snapshot = router.snapshot(now)
        names = {picture.account.id: picture.account.name for picture in snapshot.accounts}
        return {
            "version": running_version,
            "running": True,
            "pid": os.getpid(),
            "listen": {"claude": listening()},
            "strategy": settings.routing.strategy,
            "next": {family: names.get(account) if account else None for family, account in snapshot.next.items()},
            "accounts": [_account(picture, tellers, now) for picture in snapshot.accounts],
            "conversations": snapshot.conversations,
            "pins": pins(snapshot),
            "queued": snapshot.queued,
        }

    return draw


def _account(picture: AccountPicture, tellers: Iterable[Told], now: datetime) -> dict[str, Any]:
    document = plain(picture)
    for tell in tellers:
        document |= tell(picture, now)
    return document
