"""Every setting of config.toml, with its default, its meaning and what it must be; every environment variable.

docs/settings.md and a new config.toml are made of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from credentials import rings
from credentials.backends import BACKENDS
from home import checks, paths
from home.tables import Settings
from routing.rules import PROBE_LEAST_S, Overage

VERSION = 1  # of config.toml
PROVIDERS = ("anthropic",)
LEVELS = ("debug", "info", "warning", "error")
STRATEGIES = (  # a test holds it against routing's own list
    "headroom",
    "perishing",
    "soonest_reset",
    "priority",
    "least_cost",
    "round_robin",
    "failover",
    "first_then_spill",
    "weekly_balance",
    "burn_rate_balance",
    "least_used",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    check: what it must be, range and unit included. meaning: one line for people.
    default: the value that holds when it is not set.
    """

    check: checks.Check
    meaning: str
    default: Any


_KNOWN: dict[str, tuple[checks.Check, str]] = {
    "listen.claude": (checks.address, "where Claude Code finds the pool; port 0 takes any free one"),
    "listen.forward": (
        checks.address_or_none,
        "where `flowpool run --forward` sends Claude Code, as its HTTPS_PROXY; empty: nowhere",
    ),
    "admit.key": (
        checks.flag,
        "let in only who shows the key, where others use this machine too; `flowpool run` and `env` hand it on",
    ),
    "providers.anthropic.upstream": (checks.upstream, "where requests go; no path, http only to this machine"),
    "providers.anthropic.token_url": (checks.endpoint, "where logins are renewed; http only to this machine"),
    "credentials.backend": (
        checks.one_of(*BACKENDS),
        "where secrets are kept: auto takes the system's keyring if there is one, else the file",
    ),
    "routing.strategy": (
        checks.one_of(*STRATEGIES),
        (
            "who gets new conversations: headroom who has room for what comes, perishing whose quota is lost fastest, soonest_reset"
            " whose week ends, priority your first, failover the first until it refuses, first_then_spill the first while 10 % is"
            " left, round_robin each in turn, least_cost and least_used the emptiest, weekly_balance and burn_rate_balance evenly"
        ),
    ),
    "routing.switch_at": (
        checks.fraction,
        "an account this full gets new conversations after all but API keys without a rank; 0 to 1",
    ),
    "routing.reserve_last_resort": (checks.flag, "let an account at its reserve serve when nobody else may"),
    "routing.overage": (checks.one_of(*Overage), "paid extra usage: avoid moves to another account, allow takes it"),
    "replay.ambiguous": (checks.flag, "send again even when the first sending may have been worked on"),
    "wait.max": (checks.seconds, "the longest a request waits inside the proxy, in seconds"),
    "wait.margin_s": (checks.seconds, "seconds kept free of the client's own time-out"),
    "wait.heartbeat": (
        checks.beats,
        "how often the client of a streamed request that waits is sent a comment, which keeps it patient; 0: never",
    ),
    "retry.connect": (checks.waits, "seconds before each new try to connect"),
    "retry.server_error": (checks.waits, "seconds before each new try after a server error"),
    "retry.overloaded": (checks.waits, "seconds before each new try when the provider is overloaded"),
    "retry.throttle_default_s": (checks.seconds, "seconds to wait when a throttled answer names none"),
    "retry.throttle_wait_s": (
        checks.seconds,
        "a throttle up to this many seconds is waited for, a longer one moves on",
    ),
    "retry.budget_s": (checks.seconds, "what all these waits of one request may add up to"),
    "retry.renewal_s": (checks.seconds, "how long a request waits for its account's refused login to be renewed"),
    "retry.stale_s": (
        checks.seconds,
        "a connection idle for longer that ends sooner than this once used was gone before",
    ),
    "hold.throttle_s": (checks.seconds, "the longest an account is left alone after a throttle"),
    "hold.unknown_s": (checks.seconds, "after a refusal that names no end"),
    "hold.forbidden_s": (checks.seconds, "after a refusal of permission"),
    "hold.auth_s": (checks.seconds, "after a refused login; doubles each time"),
    "hold.auth_max_s": (checks.seconds, "the longest after refused logins"),
    "hold.credits_s": (
        checks.seconds,
        "after a model needed credits that were not there, or extra usage ran out with no known reset",
    ),
    "hold.balance_s": (checks.seconds, "after an API key's balance ran out"),
    "hold.retest_s": (checks.seconds, "how often one request may try whether a hold still stands"),
    "limits.connect_s": (checks.some_seconds, "seconds to reach the provider"),
    "limits.headers_s": (checks.some_seconds, "seconds until an answer begins"),
    "limits.stream_idle_s": (checks.some_seconds, "seconds of silence inside a stream"),
    "limits.stream_total_s": (checks.some_seconds, "seconds of a whole stream"),
    "limits.body_read_s": (checks.some_seconds, "seconds for the client to send its request"),
    "limits.body_mib": (checks.some_mib, "the largest request, in MiB"),
    "limits.gate_ms": (checks.milliseconds, "how long the first events of a stream are held back to be judged"),
    "limits.gate_kb": (checks.kib, "how much of a stream is held back at most, in KiB"),
    "limits.drain_s": (checks.seconds, "how long requests in flight may still take when the proxy is to stop"),
    "probe.usage": (
        checks.flag,
        "ask the provider how full the windows of an idle account are, where its token may ask; it costs no quota",
    ),
    "probe.paid": (
        checks.flag,
        "ask an idle account that cannot be asked so for one token of a Haiku model, if its 5-hour window runs anyway",
    ),
    "probe.every": (
        checks.number(PROBE_LEAST_S, checks.LONGEST, f"seconds, from {PROBE_LEAST_S:.0f} to a year"),
        "seconds after which readings are old, and an account is asked again",
    ),
    "prime.day": (
        checks.day,
        "your day, through which 5-hour windows end one by one: one Haiku token opens each, whatever probe.paid says",
    ),
    "prime.timezone": (checks.zone, "whose wall clock the day is told by; empty is this machine's"),
    "launch.model": (
        checks.name,
        "what `flowpool run` passes as --model, unless no account has room for it; empty: nothing",
    ),
    "launch.resume_on_limit": (
        checks.flag,
        "let `flowpool run` resume a session that a limit or a time-out ended, at most three times",
    ),
    "outbound.proxy": (
        checks.proxy,
        "the proxy of your network, through which providers are asked; HTTPS_PROXY is not read",
    ),
    "outbound.ca_bundle": (
        checks.path,
        "a PEM file of authorities to trust besides the usual ones, as a network that opens TLS needs",
    ),
    "log.level": (
        checks.one_of(*LEVELS),
        "the least that the log file takes; debug adds mitmproxy's word on every connection",
    ),
    "log.bodies": (
        checks.path,
        "a folder that gets a file of each exchange, prompt and answer included, secrets masked; empty: none",
    ),
    "log.body_kib": (checks.kib, "how much of one body such a file keeps, in KiB"),
    "log.bodies_mib": (checks.some_mib, "how much all these files may take, in MiB; the oldest go first"),
    "log.bodies_days": (checks.days, "for how many days they are kept"),
}


VARIABLES: dict[str, str] = {  # name: meaning; a test holds it against what the code reads
    paths.VARIABLE: (
        "one folder for everything, by its whole path, made if it is missing; without it, or empty, the platform's config and state folders:"
        " `~/.config/flowpool` and `~/.local/state/flowpool` on Linux"
    ),
    rings.VARIABLE: (
        "the backend that the package keyring is to use, as a dotted name; one that is no place for secrets is not used"
    ),
    "CLAUDE_CONFIG_DIR": "Claude Code's own folder, in which `flowpool import` and `doctor` look for its login",
    "FLOWPOOL_CHANGED": "flowpool's own note, in what it starts, of which variables it changed there; leave it as it is",
    "FLOWPOOL_STARTED": "flowpool's own mark on what it starts, by which it knows when that starts it again; leave it as it is",
    "_FLOWPOOL_COMPLETE": "what click reads to complete words in a shell: `bash_source`, `zsh_source` or `fish_source`",
    "FLOWPOOL_RESTARTED": "flowpool's own mark on the mitmproxy that it started again; leave it unset",
    "FLOWPOOL_HANDED": "what a proxy hands on to the one that takes its place; leave it unset",
    "FLOWPOOL_SERVICE": "`launchd` in what launchd starts: a restart then stays in the same process",
    "NOTIFY_SOCKET": "where systemd is told how the service stands; systemd sets it",
}


def _walk(prefix: str, values: Any) -> Iterator[tuple[str, Any]]:
    """Yield each table and setting with its values, by dotted key, tables before what is in them."""
    for item in fields(values):
        key, value = f"{prefix}{item.name}", getattr(values, item.name)
        yield key, value
        if _is_table(value):
            yield from _walk(f"{key}.", value)


def _is_table(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, checks.Address)


SETTINGS: dict[str, Setting] = {
    key: Setting(check=_KNOWN[key][0], meaning=_KNOWN[key][1], default=value)
    for key, value in _walk("", Settings())
    if not _is_table(value)
}
TABLES: dict[str, str] = {  # name: meaning
    key: (type(value).__doc__ or "").partition("\n")[0] for key, value in _walk("", Settings()) if _is_table(value)
}


def values_of(settings: Settings) -> dict[str, Any]:
    """Each setting's value, by dotted key, in the order of SETTINGS."""
    return {key: value for key, value in _walk("", settings) if not _is_table(value)}


def settings_of(table: str) -> dict[str, Setting]:
    """The settings that stand right in a table, by their bare names."""
    return {name: found for key, found in SETTINGS.items() for at, _, name in [key.rpartition(".")] if at == table}
