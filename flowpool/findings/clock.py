"""The clock of this machine beside the upstream's: limits end, and tokens expire, by theirs."""

import sys
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from credentials import web
from credentials.way import DIRECT, Way
from flowpool.findings.finding import Finding, fail, ok, skip, warn
from flowpool.findings.logins import PATIENCE, look_at
from home.version import version

PART = "clock"
NEAR, FAR = 60.0, 300.0  # seconds of difference: from the first on a person is warned, from the second on it fails


def clock(upstream: str, way: Way = DIRECT) -> Finding:
    """Ask the upstream without a credential, and compare the date of whatever it answers."""
    from providers.anthropic import checks  # noqa: PLC0415  # the providers' code costs 100 ms

    question = web.Question(method="GET", url=upstream + checks.PATH, headers={"User-Agent": f"flowpool/{version()}"})
    before = datetime.now(UTC)
    try:
        answer = web.ask(question, PATIENCE, way)
    except web.UnreachableError as error:
        return warn(PART, f"not compared: {upstream} is unreachable ({error})", look_at(upstream, way))
    return compared(answer.headers.get("date", ""), before + (datetime.now(UTC) - before) / 2)


def compared(date: str, now: datetime) -> Finding:
    """Judge the difference between an answer's Date and our own time at that moment."""
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return skip(PART, "not compared: the upstream tells no date")
    off = (now - (theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC))).total_seconds()
    if abs(off) <= NEAR:
        return ok(PART, "agrees with the upstream's")
    say = fail if abs(off) > FAR else warn
    return say(PART, f"{abs(off):.0f} s {'ahead of' if off > 0 else 'behind'} the upstream's", _setting())


def _setting() -> str:
    """Return what sets the clock of this system."""
    if sys.platform == "win32":
        return "w32tm /resync"
    return "sudo sntp -sS time.apple.com" if sys.platform == "darwin" else "sudo timedatectl set-ntp true"
