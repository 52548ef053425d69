"""The environment of a Claude Code that we start: how it finds the pool, and stays in its subscription's mode.

What we change is noted in one variable of ours, so that a Claude Code that is started inside another, or directly, gets what the person
had. Fact: docs/facts/claude-code.md; the names are in code.claude.com/docs, env-vars and llm-gateway.
"""

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from home.checks import Address
from routing.rules import Waiting

CHANGED = "FLOWPOOL_CHANGED"
BASE, HEADERS, TOKEN = "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"
API_KEY = "ANTHROPIC_API_KEY"
KEYS = (API_KEY, "ANTHROPIC_AUTH_TOKEN")
"""With one of them Claude Code leaves its subscription's mode, whatever its login."""
RESTORED = {"ENABLE_TOOL_SEARCH": "true", "CLAUDE_CODE_ENABLE_FINE_GRAINED_TOOL_STREAMING": "1"}
"""What an address that is not the vendor's switches off."""
TIMEOUT, TIMEOUT_S = "API_TIMEOUT_MS", 600.0
WATCHDOG, WATCHDOG_S = "CLAUDE_STREAM_IDLE_TIMEOUT_MS", 300.0
MOST_MS = 2**31 - 1
PROXY, PLAIN_PROXY, ANY_PROXY, NO_PROXY = "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"
AUTHORITIES = "NODE_EXTRA_CA_CERTS"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
VENDOR = "api.anthropic.com"
OURS = "x-flowpool-"
PIN, KEY = f"{OURS}pin", f"{OURS}key"
PLACED = "-flowpool-placeholder"
"""How the token ends that stands for no login; all of it is in providers/anthropic, which takes long to load."""

_SIZE = 8  # bytes of a digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a client reaches the pool: at an address of its own, or through a proxy.

    base_url, proxy: one of them is empty. authorities: the file that has the proxy's, with the person's own. headers: ours. token: for
    a client that has no login, empty for others.
    """

    base_url: str = ""
    proxy: str = field(default="", repr=False)
    authorities: str = ""
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token: str = field(default="", repr=False)
    wait: Waiting = field(default_factory=Waiting)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An environment, and what a person should know of how it came about, a line each."""

    values: Mapping[str, str] = field(repr=False)
    notes: tuple[str, ...] = ()


def prepared(variables: Mapping[str, str], way: Way) -> Prepared:
    """Return the environment of a client that asks the pool; what the person set goes before our defaults."""
    before = undone(variables)
    values, notes = without_keys(before)
    theirs = before.get(BASE)
    if theirs and theirs.rstrip("/") != way.base_url:
        notes += (f"{BASE} is replaced by the pool's; to go there, run: flowpool run --direct",)
    values = _by_address(values, way.base_url) if way.base_url else _by_proxy(values, way)
    values = patience(way.wait) | values
    values |= {HEADERS: with_headers(values.get(HEADERS, ""), way.headers)}
    if way.token and not values.get(TOKEN):
        values[TOKEN] = way.token
    values = {name: value for name, value in values.items() if value or name != HEADERS}
    return Prepared(values=values | _noted(before, values), notes=notes)


def without_keys(variables: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the environment without API keys, and a line for each that was there."""
    values = {name: value for name, value in variables.items() if name not in KEYS}
    notes = [
        f"{name} is set, and not passed on: with it Claude Code would not use a login"
        for name in KEYS
        if variables.get(name)
    ]
    return values, tuple(notes)


def _by_address(values: Mapping[str, str], base_url: str) -> dict[str, str]:
    """Ask at an address; a proxy of the person's network would look for it on its own machine."""
    found = RESTORED | {**values, BASE: base_url}
    return _unproxied(found, (urlsplit(base_url).hostname or "",)) if is_proxied(values) else found


def is_proxied(values: Mapping[str, str]) -> bool:
    """Tell whether the person's network has a proxy that a client would ask."""
    return any(values.get(shown) for name in (PROXY, PLAIN_PROXY, ANY_PROXY) for shown in (name, name.lower()))


def _by_proxy(values: Mapping[str, str], way: Way) -> dict[str, str]:
    """Ask through our proxy, for this client and its children alone."""
    found = {name: value for name, value in values.items() if name != BASE}
    found |= dict.fromkeys(_spellings(PROXY), way.proxy) | {AUTHORITIES: way.authorities}
    return _unproxied(found, LOOPBACK, drops=VENDOR)


def _unproxied(values: Mapping[str, str], hosts: Iterable[str], drops: str = "") -> dict[str, str]:
    """Let no proxy be asked for these hosts, and for all that the person named; drops: a host that must go through it."""
    found = dict(values)
    for name in _spellings(NO_PROXY):
        theirs = values.get(name) or values.get(NO_PROXY) or values.get(NO_PROXY.lower()) or ""
        listed = [one.strip() for one in theirs.split(",") if one.strip()]
        kept = [one for one in listed if not (drops and _covers(one, drops))]
        found[name] = ",".join(dict.fromkeys([*kept, *(() if "*" in kept else hosts)]))
    return found


def _covers(entry: str, host: str) -> bool:
    """Tell whether an entry of NO_PROXY stands for a host."""
    name = entry.lower().partition(":")[0].removeprefix("*").lstrip(".")
    return not name or host == name or host.endswith(f".{name}")


def _spellings(name: str) -> tuple[str, ...]:
    """Both are in use; Windows knows no difference."""
    return (name,) if sys.platform == "win32" else (name, name.lower())


def patience(wait: Waiting) -> dict[str, str]:
    """Return what makes a client wait for as long as a request may pause here."""
    longest = wait.max + wait.margin_s
    needed = {TIMEOUT: longest > TIMEOUT_S, WATCHDOG: bool(wait.heartbeat) and longest > WATCHDOG_S}
    return {name: str(min(math.ceil(longest * 1000), MOST_MS)) for name, is_needed in needed.items() if is_needed}


def with_headers(theirs: str, ours: Iterable[tuple[str, str]]) -> str:
    """Return custom headers as Claude Code reads them, one a line: the person's, and ours in place of older ones of ours."""
    lines = [line for line in theirs.splitlines() if line.strip() and not line.strip().lower().startswith(OURS)]
    return "\n".join([*lines, *(f"{name}: {value}" for name, value in ours)])


def _noted(before: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Note what we changed; of credentials nothing: a token of ours is told by its text, and keys are not given back."""
    names = sorted({*before, *values} - {TOKEN, *KEYS})
    changed = {n: (before.get(n), _digest(values.get(n))) for n in names if before.get(n) != values.get(n)}
    return {CHANGED: json.dumps(changed)}


def undone(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that a person had before we changed it; what was set since stays."""
    values = {name: value for name, value in environ.items() if name != CHANGED}
    for name, (before, after) in _notes(environ.get(CHANGED, "")).items():
        if _digest(values.get(name)) == after:
            values.pop(name, None)
            values |= {} if before is None else {name: before}
    if OURS in (shown := values.get(HEADERS, "")).lower():
        values[HEADERS] = with_headers(shown, ())
    gone = [HEADERS] if not values.get(HEADERS) else []
    gone += [TOKEN] if values.get(TOKEN, "").endswith(PLACED) else []
    return {name: value for name, value in values.items() if name not in gone}


def without_pool(variables: Mapping[str, str], listen: Sequence[Address]) -> dict[str, str]:
    """Return the environment of a client that asks the vendor itself; listen: where the pool is asked."""
    values = undone(variables)
    for name in (BASE, *_spellings(PROXY)):
        if is_at(values.get(name, ""), listen):
            del values[name]
    return values


def is_at(url: str, listen: Iterable[Address]) -> bool:
    """Tell whether an address leads to one of these, which are on this machine."""
    try:
        parts = urlsplit(url)
        there = (parts.hostname or "", parts.port)
    except ValueError:
        return False
    return any(there[1] == one.port and there[0] in (one.host, *LOOPBACK) for one in listen)


def _notes(text: str) -> dict[str, tuple[str | None, str]]:
    try:
        found = json.loads(text)
        return {
            str(name): (None if before is None else str(before), str(after)) for name, (before, after) in found.items()
        }
    except (ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _digest(value: str | None) -> str:
    return "" if value is None else hashlib.blake2b(os.fsencode(value), digest_size=_SIZE).hexdigest()
