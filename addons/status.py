"""The document that `flowpool status --json` and GET /_flowpool/status give: the Router's snapshot as plain JSON."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from home.settings import Settings
from home.version import version
from routing.router import Router
from routing.snapshot import AccountPicture, HoldPicture, WindowPicture


def status_of(router: Router, settings: Settings, listening: Callable[[], str]) -> Callable[[datetime], dict[str, Any]]:
    """The function that draws the document; listening gives host:port."""
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
            "accounts": [_account(picture) for picture in snapshot.accounts],
            "conversations": snapshot.conversations,
        }

    return draw


def _account(picture: AccountPicture) -> dict[str, Any]:
    account = picture.account
    return {
        "id": account.id,
        "name": account.name,
        "provider": account.provider,
        "kind": account.kind.value,
        "enabled": account.enabled,
        "rank": account.rank,
        "state": picture.state.value,
        "because": picture.because,
        "windows": [_window(window) for window in picture.windows],
        "holds": [_hold(hold) for hold in picture.holds],
        "in_flight": picture.in_flight,
        "requests": picture.requests,
    }


def _window(window: WindowPicture) -> dict[str, Any]:
    return {
        "key": window.key,
        "used": window.used,
        "resets_at": _moment(window.resets_at),
        "status": window.status.value if window.status else None,
        "source": window.source.value,
        "taken_at": _moment(window.taken_at),
    }


def _hold(hold: HoldPicture) -> dict[str, Any]:
    return {"scope": hold.scope, "until": _moment(hold.until), "because": hold.because, "row": hold.row}


def _moment(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, to the millisecond."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="milliseconds")
