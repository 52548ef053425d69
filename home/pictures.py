"""An account's picture as plain JSON: what the document of `status` has of each."""

from datetime import UTC, datetime
from typing import Any

from home.accounts import describe
from routing.pressure import Pressure
from routing.snapshot import AccountPicture, HoldPicture, PinPicture, Snapshot, WindowPicture


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
        "queued": picture.queued,
        "requests": picture.requests,
        "pressure": _pressure(picture.pressure),
    }


def pins(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return what was wished, accounts by name."""
    names = {picture.account.id: picture.account.name for picture in snapshot.accounts}
    return [_pin(pin, [names.get(account, account) for account in pin.accounts]) for pin in snapshot.pins]


def _pin(pin: PinPicture, names: list[str]) -> dict[str, Any]:
    return {
        "session": pin.session,
        "accounts": names,
        "moves": pin.moves,
        "launch": pin.is_launch,
        "at": moment(pin.at),
        "because": pin.because,
    }


def times(picture: AccountPicture) -> dict[str, str | None]:
    """Return when an account's credential ends, and when the provider last judged it for sure."""
    return {
        "expires_at": moment(picture.expires_at),
        "refresh_expires_at": moment(picture.refresh_expires_at),
        "checked_at": moment(picture.checked_at),
    }


def _window(window: WindowPicture) -> dict[str, Any]:
    return {
        "key": window.key,
        "used": window.used,
        "resets_at": moment(window.resets_at),
        "status": window.status.value if window.status else None,
        "source": window.source.value,
        "taken_at": moment(window.taken_at),
    }


def _pressure(pressure: Pressure | None) -> dict[str, Any] | None:
    """When the 5-hour window runs out, where it does so before its reset."""
    if pressure is None:
        return None
    return {"runs_out_at": moment(pressure.runs_out_at), "because": pressure.because}


def _hold(hold: HoldPicture) -> dict[str, Any]:
    return {"scope": hold.scope, "until": moment(hold.until), "because": hold.because, "row": hold.row}


def moment(at: datetime | None) -> str | None:
    """A moment as ISO 8601 in UTC, to the millisecond."""
    return None if at is None else at.astimezone(UTC).isoformat(timespec="milliseconds")
