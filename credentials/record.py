"""A credential as the plain fields that a store keeps, and back."""

from datetime import datetime
from types import MappingProxyType

from credentials.credential import KINDS, Credential, Extra
from credentials.secret import Secret

type Plain = str | list[str] | dict[str, str | list[str]] | None


def dump(credential: Credential) -> dict[str, Plain]:
    """Return the fields, secrets in clear: for a private file only."""
    return {
        "kind": credential.kind,
        "access": credential.access.reveal(),
        "refresh": None if credential.refresh is None else credential.refresh.reveal(),
        "expires_at": _text(credential.expires_at),
        "refresh_expires_at": _text(credential.refresh_expires_at),
        "extras": {name: extra if isinstance(extra, str) else list(extra) for name, extra in credential.extras.items()},
    }


def load(fields: object) -> Credential:
    """Read the fields; raise ValueError, which never quotes them."""
    if not isinstance(fields, dict):
        raise ValueError("it is not an object")  # noqa: TRY004  # one kind of fault for callers
    kind, access = fields.get("kind"), fields.get("access")
    refresh, extras = fields.get("refresh"), fields.get("extras", {})
    if kind not in KINDS or not isinstance(access, str):
        raise ValueError("kind or access is missing")
    if not isinstance(refresh, str | None) or not isinstance(extras, dict):
        raise ValueError("refresh or extras is of the wrong type")  # noqa: TRY004
    return Credential(
        kind=kind,
        access=Secret(access),
        refresh=None if refresh is None else Secret(refresh),
        expires_at=_moment(fields.get("expires_at")),
        refresh_expires_at=_moment(fields.get("refresh_expires_at")),
        extras=MappingProxyType({str(name): _extra(value) for name, value in extras.items()}),
    )


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _moment(value: object) -> datetime | None:
    if value is None:
        return None
    moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    if moment is None or moment.tzinfo is None:
        raise ValueError("an end is not a time with its zone")
    return moment


def _extra(value: object) -> Extra:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise ValueError("extras holds something else than text")
