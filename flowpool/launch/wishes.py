"""What `env` in Claude Code's settings is to hold so that every start of it uses the pool: what `flowpool env` prints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flowpool.launch import environment
from flowpool.launch.jsonc_edit import Keys
from flowpool.launch.overlay import Theirs, Wish
from home.checks import Address

ENV = "env"
BASE, HEADERS, TOKEN = (ENV, environment.BASE), (ENV, environment.HEADERS), (ENV, environment.TOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How clients reach the pool.

    addresses: all that are, or were, ours. key: what `[admit] key` wants to be shown; empty: nothing. token: the placeholder, for a client
    without a login; empty for others.
    """

    base_url: str
    addresses: tuple[Address, ...]
    defaults: Mapping[str, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)


def wishes(reach: Reach) -> tuple[Wish, ...]:
    """Return the values that are to stand there, in the order in which new ones are put."""
    known = theirs(reach.addresses)
    base = Wish(path=BASE, value=lambda _: reach.base_url, theirs=known[BASE])
    defaults = [_default(name, value) for name, value in reach.defaults.items()]
    header = Wish(path=HEADERS, value=lambda found: _with_key(found, reach.key), theirs=known[HEADERS])
    token = Wish(path=TOKEN, value=lambda found: reach.token if found is None else None, theirs=known[TOKEN])
    return (base, *defaults, *([header] if reach.key else []), *([token] if reach.token else []))


def theirs(addresses: Iterable[Address]) -> dict[Keys, Theirs]:
    """Return how ours is told from the person's by sight: an address of the pool, a header of ours, the placeholder."""
    ours = tuple(addresses)
    return {
        BASE: lambda text: None if environment.is_at(text, ours) else text,
        HEADERS: _other_headers,
        TOKEN: lambda text: None if text.endswith(environment.PLACED) else text,
    }


def _default(name: str, value: str) -> Wish:
    """Where the person has decided otherwise, or the same, that stays theirs."""
    return Wish(path=(ENV, name), value=lambda found: value if found is None else None, theirs=lambda text: text)


def _with_key(found: Any, key: str) -> str:
    return environment.with_headers(found if isinstance(found, str) else "", [(environment.KEY, key)])


def _other_headers(text: str) -> str | None:
    """Return custom headers without ours; None when there are no others."""
    if not any(line.strip().lower().startswith(environment.OURS) for line in text.splitlines()):
        return text
    return environment.with_headers(text, ()) or None
