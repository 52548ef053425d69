"""Whether each account's credential is good: read, not over yet, and accepted by its provider."""

from datetime import UTC, datetime, timedelta

from credentials import web, worth
from credentials.credential import Credential
from credentials.errors import AGAIN, CredentialError
from credentials.way import DIRECT, Way
from flowpool.findings.finding import Finding, Level, fail, ok, skip, told, warn
from flowpool.findings.refused import Refused
from home.version import version
from routing.mending import mending
from routing.words import Account, Kind

PART = "account"
LOOK = "flowpool credentials"
PATIENCE = 10.0  # seconds for the whole question
SOON = timedelta(days=7)  # a login that ends within these is said to


def check(
    upstream: str,
    account: Account,
    kept: Credential | CredentialError,
    now: datetime,
    refused: Refused | None = None,
    *,
    way: Way = DIRECT,
) -> Finding:
    """Judge one account; what its provider does not answer is never held against it.

    kept: what is stored, or why that cannot be read. refused: what is known of an end of its login. An access token that is over is not asked when it will be renewed anyway.
    """
    name = account.name
    if isinstance(kept, CredentialError):
        problem, mend = told(kept, LOOK)
        return fail(PART, problem, mending(account.kind, name) if mend == AGAIN else mend, account=name)
    if is_over(kept.refresh_expires_at, now) and is_over(kept.expires_at, now):
        return fail(
            PART, f"its login ended {when(kept.refresh_expires_at)}", mending(account.kind, account.name), account=name
        )
    if worth.state(kept, now) is worth.State.STALE:
        if refused and refused.is_of(kept):
            why = f"its login has ended ({refused.because})"
            return fail(PART, why, mending(account.kind, name), account=name)
        stale = f"stale since {when(kept.expires_at)}, will be renewed; not asked"
        return skip(PART, stale, f"flowpool refresh {name}", account=name)
    return _with_its_end(_ask(upstream, account, kept, way), account, kept, now)


def _ask(upstream: str, account: Account, kept: Credential, way: Way) -> Finding:
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    name, secret = account.name, kept.access.reveal()
    question = checks.question(upstream + checks.PATH, Kind(kept.kind), secret, f"flowpool/{version()}")
    try:
        answer = web.ask(question, PATIENCE, way)
    except web.UnreachableError as error:
        why = checks.told(str(error), secret)
        return warn(PART, f"not checked: {upstream} is unreachable ({why})", look_at(upstream, way), account=name)
    found = checks.finding(answer, secret)
    why = f"{answer.status}: {found.detail}" if found.detail else f"{answer.status}"
    match found.standing:
        case checks.Standing.VALID:
            return ok(PART, "valid", account=name)
        case checks.Standing.LIMITED:
            return ok(PART, f"not refused, but limited for now ({answer.status})", account=name)
        case checks.Standing.INVALID:
            return fail(
                PART,
                f"invalid: the provider does not accept it ({why})",
                mending(account.kind, account.name),
                account=name,
            )
        case checks.Standing.DISABLED:
            return fail(
                PART,
                f"refused: it was revoked, or its organisation is disabled ({why})",
                mending(account.kind, account.name),
                account=name,
            )
        case checks.Standing.UNKNOWN:
            return warn(PART, f"not checked: {upstream} answered {why}", "flowpool doctor", account=name)


def _with_its_end(found: Finding, account: Account, kept: Credential, now: datetime) -> Finding:
    """Add when the credential ends; what is good and ends soon is a warning."""
    end = kept.refresh_expires_at if kept.refresh else kept.expires_at
    parts = [found.message]
    if kept.refresh and kept.expires_at:
        parts.append(f"access until {when(kept.expires_at)}, then renewed")
    if end:
        parts.append(f"{'its login ended' if end <= now else 'its login ends'} {when(end)}")
    is_soon = found.level is Level.OK and end is not None and end - now <= SOON
    return Finding(
        part=found.part,
        level=Level.WARN if is_soon else found.level,
        message="; ".join(parts),
        mend=mending(account.kind, account.name) if is_soon else found.mend,
        account=found.account,
    )


def is_over(end: datetime | None, now: datetime) -> bool:
    """Tell whether a known end has passed."""
    return end is not None and end <= now


def when(moment: datetime | None) -> str:
    """Say a time, to the minute."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else "at an unknown time"


def look_at(upstream: str, way: Way = DIRECT) -> str:
    """Return the command that shows why an upstream cannot be reached."""
    proxy = f" --proxy {way.proxy}" if way.proxy else ""
    return f"curl -sSI{proxy} {upstream}"
