"""The schema covers the settings, no more and no less."""

import tomllib

from credentials.backends import BACKENDS
from home.schema import PROVIDERS, SETTINGS, STRATEGIES, TABLES
from home.settings import Settings
from home.tables import Providers
from routing import scoring

INTERFACE = """
listen = { claude = "127.0.0.1:3456", forward = "" }
admit.key = false
providers.anthropic.upstream = "https://api.anthropic.com"
providers.anthropic.token_url = "https://platform.claude.com/v1/oauth/token"
credentials.backend = "auto"
routing = { strategy = "headroom", switch_at = 0.98, overage = "avoid", reserve_last_resort = false }
replay.ambiguous = false
wait = { max = 240, margin_s = 30, heartbeat = 0 }
hold = { throttle_s = 60, unknown_s = 300, forbidden_s = 600, auth_s = 900, auth_max_s = 21600, credits_s = 3600, balance_s = 86400, retest_s = 60 }
[retry]
connect = [0.25, 1]
server_error = [1]
overloaded = [1, 2]
throttle_default_s = 2
throttle_wait_s = 10
budget_s = 10
renewal_s = 20
stale_s = 1
[probe]
usage = true
paid = false
every = 180
[prime]
day = ""
timezone = ""
[launch]
model = ""
resume_on_limit = false
[outbound]
proxy = ""
ca_bundle = ""
[log]
level = "info"
bodies = ""
body_kib = 1024
bodies_mib = 512
bodies_days = 7
[limits]
connect_s = 10
headers_s = 600
stream_idle_s = 300
stream_total_s = 3600
body_read_s = 60
body_mib = 64
gate_ms = 1000
gate_kb = 64
drain_s = 60
"""


def flat(tree: dict[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in tree.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return found


def test_the_settings_and_defaults_are_those_of_the_interface() -> None:
    """Every setting that other tools rely on is there with its default, and there is no other."""
    promised = {key: SETTINGS[key].check(value) for key, value in flat(tomllib.loads(INTERFACE)).items()}

    assert promised == {key: setting.default for key, setting in SETTINGS.items()}


def test_every_setting_has_its_meaning_in_one_line() -> None:
    """No setting is left unexplained."""
    assert all(setting.meaning and "\n" not in setting.meaning for setting in SETTINGS.values())


def test_names_agree() -> None:
    """The providers have their tables, the defaults are among the names."""
    assert all(f"providers.{name}" in TABLES and hasattr(Providers(), name) for name in PROVIDERS)
    assert Settings().routing.strategy in STRATEGIES
    assert tuple(scoring.STRATEGIES) == STRATEGIES
    assert Settings().credentials.backend in BACKENDS
