"""The way out: whether the network's proxy and the authorities that `[outbound]` names lead to the upstream."""

from credentials import web
from flowpool.findings.finding import Finding, editing, fail, ok
from flowpool.findings.logins import PATIENCE, look_at
from home import outbound
from home.errors import SettingsError
from home.paths import Home
from home.settings import Settings
from home.version import version

PART = "way out"


def check(home: Home, chosen: Settings) -> list[Finding]:
    """Ask the upstream without a credential, the way that is set; nothing to say where none is."""
    way, upstream = outbound.way(chosen.outbound), chosen.providers.anthropic.upstream
    if not (way.proxy or way.ca_bundle):
        return []
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    try:
        outbound.check(home.config, chosen)
    except SettingsError as error:
        return [fail(PART, error.faults[0].message, editing(home.config))]
    proxy = f"the proxy {way.proxy}" if way.proxy else ""
    by = " and ".join(filter(None, [proxy, f"the authorities in {way.ca_bundle}" if way.ca_bundle else ""]))
    question = web.Question(method="GET", url=upstream + checks.PATH, headers={"User-Agent": f"flowpool/{version()}"})
    try:
        answer = web.ask(question, PATIENCE, way)
    except web.UnreachableError as error:
        return [fail(PART, f"{upstream} is not reached by {by}: {error}", look_at(upstream, way))]
    return [ok(PART, f"{upstream} is reached by {by}; it answered {answer.status}")]
