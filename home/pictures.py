"""An account's picture as plain JSON: what the document of `status` has of each."""

from datetime import UTC, datetime
from typing import Any

from home.accounts import describe
from routing.snapshot import AccountPicture, HoldPicture, WindowPicture


def plain(picture: AccountPicture) -> dict[str, Any]:
    """Return the fields of one account."""
    return {
        **describe(picture.account),
        **times(picture),
        "state": picture.state.value,
        "because": picture.because,
        "windows": [_window(window) for window in picture.windows],
        "holds": [_hold(hold) for hold in picture.holds],
        "in_flight": picture.in_flight,
        "requests": picture.requests,
    }


def times(picture: AccountPicture) -> dict[str, str | None]:
    """Return when an account's credential ends, and when the provider last judged it for sure."""
    return {
        "expires_at": _moment(picture.expires_at),
        "refresh_expires_at": _moment(picture.refresh_expires_at),
        "checked_at": _moment(picture.checked_at),
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
