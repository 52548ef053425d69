"""The tables of config.toml as values, with the defaults that hold when nothing is set."""

from dataclasses import dataclass, field

from home.checks import Address
from routing.rules import Holds, Probing, Retry, Routing, Rules, Waiting

DEFAULT_LISTEN = Address(host="127.0.0.1", port=3456)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listen:
    """Where clients find us: one address per kind of client.

    forward: where clients that honour HTTPS_PROXY do; None: nowhere.
    """

    claude: Address = DEFAULT_LISTEN
    forward: Address | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Who may speak.

    key: also programs on this machine must show the key.
    """

    key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Anthropic:
    """Where requests for Anthropic go.

    upstream: scheme, host and perhaps a port; no slash at the end.
    token_url: where a login is renewed. Fact: docs/facts/anthropic.md#renewing-a-login.
    """

    upstream: str = "https://api.anthropic.com"
    token_url: str = "https://platform.claude.com/v1/oauth/token"  # noqa: S105  # an address, not a secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Providers:
    """What each service needs to be told."""

    anthropic: Anthropic = field(default_factory=Anthropic)


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What is written down.

    level: one of home.schema.LEVELS; nothing below it comes into the log file. bodies: the folder of whole exchanges; empty: none are
    kept. body_kib: of one body; bodies_mib and bodies_days: of all of them.
    """

    level: str = "info"
    bodies: str = ""
    body_kib: float = 1024.0
    bodies_mib: float = 512.0
    bodies_days: float = 7.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Where secrets are kept.

    backend: a name for credentials.backends.open_store.
    """

    backend: str = "auto"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What may be sent again.

    ambiguous: also what the provider may have begun to work on.
    """

    ambiguous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long and how much: seconds (_s), milliseconds (_ms), MiB (_mib), KiB (_kb)."""

    connect_s: float = 10.0
    headers_s: float = 600.0
    stream_idle_s: float = 300.0
    stream_total_s: float = 3600.0
    body_read_s: float = 60.0
    body_mib: float = 64.0
    gate_ms: float = 1000.0
    gate_kb: float = 64.0
    drain_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Prime:
    """The person's day, in which 5-hour windows are opened early.

    day: as routing.priming.Day.parse reads it; empty: none. timezone: an IANA name; empty: the zone of this machine.
    """

    day: str = ""
    timezone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How `flowpool run` starts Claude Code.

    model: what is passed as --model while the pool has room for it; empty: nothing. resume_on_limit: as `run --resume-on-limit`.
    """

    model: str = ""
    resume_on_limit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outbound:
    """How this machine reaches the providers.

    proxy: of http, as scheme, host and port; empty: none. ca_bundle: a PEM file of authorities trusted besides the usual ones; empty:
    none.
    """

    proxy: str = ""
    ca_bundle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that a person may set."""

    listen: Listen = field(default_factory=Listen)
    admit: Admission = field(default_factory=Admission)
    providers: Providers = field(default_factory=Providers)
    credentials: Keeping = field(default_factory=Keeping)
    routing: Routing = field(default_factory=Routing)
    replay: Replay = field(default_factory=Replay)
    wait: Waiting = field(default_factory=Waiting)
    retry: Retry = field(default_factory=Retry)
    hold: Holds = field(default_factory=Holds)
    limits: Limits = field(default_factory=Limits)
    probe: Probing = field(default_factory=Probing)
    prime: Prime = field(default_factory=Prime)
    launch: Launch = field(default_factory=Launch)
    outbound: Outbound = field(default_factory=Outbound)
    log: Log = field(default_factory=Log)

    @property
    def rules(self) -> Rules:
        """The numbers that routing decides by."""
        return Rules(
            routing=self.routing, retry=self.retry, hold=self.hold, wait=self.wait, ambiguous=self.replay.ambiguous
        )
