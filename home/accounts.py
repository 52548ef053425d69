"""accounts.toml as values: the accounts of the pool, without their secrets."""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from credentials import files
from credentials.errors import Unreadable
from home import toml
from home.checks import nearest
from home.errors import AccountsError, Fault
from home.schema import PROVIDERS
from routing.words import Account, AccountId, Identity, Kind, Reserves

VERSION = 1
TOP = ("version", "accounts")
RESERVED = ("client",)  # in logs it stands for the client's own login
FURTHEST = 1_000_000  # a rank is a place in a short list
RANK_RULE = f"a whole number from {-FURTHEST} to {FURTHEST}"
RESERVE_RULE = "a number from 0, which holds nothing back, to less than 1"
HIGHEST_CAP = 10_000
CAP_RULE = f"a whole number from 1 to {HIGHEST_CAP}"
LONGEST_FACT = 512
FACT_RULE = f"1 to {LONGEST_FACT} characters on one line"
NAME_RULE = "1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit, and not the reserved name client"

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

type Accounts = tuple[Account, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of an account. wanted: what follows "must be". meaning: one line for people."""

    wanted: str
    meaning: str


KEYS = {
    "id": Key("1 to 64 letters, digits, _ or -", "what its secret and its history are kept under; never changes"),
    "name": Key(NAME_RULE, "what you call it, in commands and logs; `flowpool rename`"),
    "provider": Key(" or ".join(PROVIDERS), "whose service it pays for"),
    "kind": Key(" or ".join(Kind), "how its credential was issued; `flowpool add --kind`"),
    "enabled": Key("true or false", "whether it may serve; `flowpool enable` and `disable`"),
    "rank": Key(
        RANK_RULE,
        "an order of your own, lower first, none last; a nearly full account comes after the others all the same;"
        " `flowpool rank`",
    ),
    "reserve_5h": Key(RESERVE_RULE, "the part of its 5-hour windows that only pinned requests use; `flowpool reserve`"),
    "reserve_week": Key(
        RESERVE_RULE, "the part of its weekly windows that only pinned requests use; `flowpool reserve`"
    ),
    "cap": Key(CAP_RULE, "the most requests in flight there; more wait for their turn; `flowpool cap`"),
    "primary": Key(
        "true or false",
        "whether what is bound to an identity goes out on it, for clients without a login of their own;"
        " `flowpool primary`",
    ),
    "owner": Key(FACT_RULE, "the provider's id of whose login it is"),
    "organization": Key(FACT_RULE, "the provider's id of the organization that pays"),
    "email": Key(FACT_RULE, "the login's address"),
    "organization_name": Key(FACT_RULE, "what the organization is called"),
    "plan": Key(FACT_RULE, "the plan, as the provider calls it"),
    "source": Key(
        FACT_RULE, "the file of another program that keeps the same login, and may renew it; `flowpool import`"
    ),
}


@dataclass(frozen=True, slots=True)
class _Wrong(Exception):  # noqa: N818  # never leaves this module
    """What is wrong, at which account (None: the whole file) and key."""

    message: str
    index: int | None = None
    key: str = ""


def is_name(text: str) -> bool:
    """Tell whether an account may be called so."""
    return _NAME.fullmatch(text) is not None and text not in RESERVED


def is_rank(value: Any) -> bool:
    """Tell whether an account may have this rank."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= FURTHEST


def is_reserve(value: Any) -> bool:
    """Tell whether so much of an account's windows may be held back."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1


def is_cap(value: Any) -> bool:
    """Tell whether an account may have this cap."""
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= HIGHEST_CAP


def is_fact(text: str) -> bool:
    """Tell whether a text that came from elsewhere can be kept of an account."""
    return len(text) <= LONGEST_FACT and (not text or text.isprintable())


def new_id() -> AccountId:
    """Draw an id: 12 hex digits."""
    return AccountId(os.urandom(6).hex())


def load(path: Path) -> Accounts:
    """Read accounts.toml, in its order; no file means no accounts. Raises AccountsError; the file stays as it is."""
    try:
        data = files.read(path, private=False)
    except Unreadable as error:
        raise AccountsError(path, Fault(key="", line=None, message=error.what)) from error
    return () if data is None else parse(path, data)


def parse(path: Path, data: bytes) -> Accounts:
    """Read the text of accounts.toml; path is for the messages."""
    found = toml.parse(data)
    if isinstance(found, Fault):
        raise AccountsError(path, found)
    try:
        return _check_unique(_read(found))
    except _Wrong as wrong:
        key = ".".join(part for part in ("" if wrong.index is None else "accounts", wrong.key) if part)
        raise AccountsError(path, Fault(key=key, line=_line(data, wrong), message=wrong.message)) from None


def edit(path: Path, change: Callable[[Accounts], Accounts]) -> Accounts:
    """Change the accounts while no other process can, from what is in the file now; return what is there then.

    Raises AccountsError and leaves the file when it, or what change returns, is not valid; what change raises passes.
    """
    with files.lock(path):
        accounts = change(load(path))
        data = render(accounts)
        parse(path, data)
        files.write(path, data)
    return accounts


def render(accounts: Accounts) -> bytes:
    """Return the text of accounts.toml."""
    import tomli_w  # noqa: PLC0415  # needed only to write

    return tomli_w.dumps({"version": VERSION, "accounts": [_table(account) for account in accounts]}).encode()


def _table(account: Account) -> dict[str, str | bool | float]:
    table: dict[str, str | bool | float] = {
        "id": account.id,
        "name": account.name,
        "provider": account.provider,
        "kind": account.kind.value,
        "enabled": account.enabled,
    }
    held = {"reserve_5h": account.reserves.session or None, "reserve_week": account.reserves.week or None}
    told: dict[str, Any] = asdict(account.identity) | held | {"rank": account.rank, "cap": account.cap}
    told |= {"primary": account.primary or None, "source": account.source}
    return table | {key: told[key] for key in KEYS if told.get(key) not in (None, "")}


def _read(found: toml.Table) -> Accounts:
    if not found:
        raise _Wrong("is empty; put a copy back, or delete it to begin with no accounts")
    version, tables = found.pop("version", None), found.pop("accounts", [])
    if isinstance(version, int) and version > VERSION:
        raise _Wrong(f"is {version}, written by a newer flowpool than this one, which reads {VERSION}", key="version")
    if version is None:
        raise _Wrong(f"lacks the line version = {VERSION} at its top")
    if isinstance(version, bool) or version != VERSION:
        raise _Wrong(f"must be {VERSION}", key="version")
    if found:
        key = next(iter(found))
        raise _Wrong(f"is not known here; did you mean {nearest(key, TOP) or ', '.join(TOP)}?", key=key)
    if not isinstance(tables, list):
        raise _Wrong("must be tables: [[accounts]]", key="accounts")
    return tuple(_account(index, table) for index, table in enumerate(tables))


def _account(index: int, table: Any) -> Account:
    if not isinstance(table, dict):
        raise _Wrong("must be a table", index)
    for key in table:
        if key not in KEYS:
            raise _Wrong(f"is not known here; did you mean {nearest(key, KEYS) or ', '.join(KEYS)}?", index, key)
    rank = table.get("rank")
    if rank is not None and not is_rank(rank):
        raise _must(index, "rank")
    cap = table.get("cap")
    if cap is not None and not is_cap(cap):
        raise _must(index, "cap")
    return Account(
        id=AccountId(_text(index, table, "id", _ID)),
        name=_text(index, table, "name", _NAME),
        provider=_provider(index, table.get("provider")),
        kind=_kind(index, table.get("kind")),
        enabled=_flag(index, table, "enabled", default=True),
        rank=rank,
        reserves=Reserves(session=_reserve(index, table, "reserve_5h"), week=_reserve(index, table, "reserve_week")),
        cap=cap,
        primary=_flag(index, table, "primary", default=False),
        identity=Identity(**{one.name: _fact(index, table, one.name) for one in fields(Identity)}),
        source=_fact(index, table, "source"),
    )


def _must(index: int, key: str, hint: str = "") -> _Wrong:
    return _Wrong(f"must be {KEYS[key].wanted}{hint}", index, key)


def _text(index: int, table: toml.Table, key: str, pattern: re.Pattern[str]) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not pattern.fullmatch(value) or value in RESERVED:
        raise _must(index, key)
    return value


def _flag(index: int, table: toml.Table, key: str, *, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise _must(index, key)
    return value


def _fact(index: int, table: toml.Table, key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or not is_fact(value) or (key in table and not value):
        raise _must(index, key)
    return value


def _reserve(index: int, table: toml.Table, key: str) -> float:
    value = table.get(key, 0)
    if not is_reserve(value):
        raise _must(index, key)
    return float(value)


def _provider(index: int, value: Any) -> str:
    if isinstance(value, str) and value in PROVIDERS:
        return value
    raise _must(index, "provider")


def _kind(index: int, value: Any) -> Kind:
    try:
        return Kind(value)
    except ValueError:
        near = nearest(value, Kind) if isinstance(value, str) else None
        raise _must(index, "kind", f"; did you mean {near}?" if near else "") from None


def _check_unique(accounts: Accounts) -> Accounts:
    for key in ("id", "name"):
        seen: set[str] = set()
        for index, account in enumerate(accounts):
            value: str = getattr(account, key)
            if value in seen:
                raise _Wrong(f"{value} is there twice", index, key)
            seen.add(value)
    primaries = [index for index, account in enumerate(accounts) if account.primary]
    if len(primaries) > 1:
        raise _Wrong("is true twice; keep it for one account", primaries[1], "primary")
    return accounts


def _line(data: bytes, wrong: _Wrong) -> int | None:
    """Find the line of the key, else of its account."""
    places = toml.lines(data)
    start: toml.Key = () if wrong.index is None else ("accounts", wrong.index)
    return places.get((*start, wrong.key)) or places.get(start)


def describe(account: Account) -> dict[str, str | bool | float | None]:
    """Return an account's fields as the JSON of `accounts` and `status` has them."""
    return {
        "id": account.id,
        "name": account.name,
        "provider": account.provider,
        "kind": account.kind.value,
        "enabled": account.enabled,
        "rank": account.rank,
        "reserve_5h": account.reserves.session,
        "reserve_week": account.reserves.week,
        "cap": account.cap,
        "primary": account.primary,
        "email": account.identity.email or None,
        "organization": account.identity.organization_name or account.identity.organization or None,
        "plan": account.identity.plan or None,
    }
