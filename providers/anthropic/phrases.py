"""A verdict's reason in a few words for people, and the phrases by which some errors are known."""

import re
from datetime import datetime

from credentials.redaction import without_tokens
from providers.anthropic import holds
from providers.anthropic.signs import Signs
from routing.moments import said

_ON_HOLD = re.compile(r"\baccount\b.{0,200}\bon hold\b", re.IGNORECASE | re.DOTALL)
_USAGE_LIMIT = re.compile(r"reached your specified .{0,200}usage limits", re.IGNORECASE | re.DOTALL)
_LENGTH = 160  # a line of a log has room for that much of a message


def is_on_hold(message: str) -> bool:
    """Whether the message says that the account is on hold."""
    return _ON_HOLD.search(message) is not None


def is_usage_limit(message: str) -> bool:
    """Whether the message says that a limit was reached which the account's owner set."""
    return _USAGE_LIMIT.search(message) is not None


def quote(message: str) -> str:
    """A foreign message as one short line, without a credential that it may name."""
    line = " ".join("".join(c if c.isprintable() else " " for c in without_tokens(message)[: 4 * _LENGTH]).split())
    return line if len(line) <= _LENGTH else f"{line[: _LENGTH - 1]}…"


def quoted(s: Signs) -> str:
    """The provider's own words, or the bare status; more of ours follow."""
    return quote(s.fault.message).rstrip(".") or f"status {s.status}"


def answered(s: Signs) -> str:
    """Row 8."""
    return "answered as paid extra usage" if holds.is_overage(s) else "answered"


def limit(s: Signs) -> str:
    """Rows 12 and 13."""
    hold = holds.limit(s)
    keys = " and ".join(sorted(hold.windows))
    end = f" until {said(hold.until, s.now)}" if isinstance(hold.until, datetime) else ""
    return f"{keys} limit{end}".lstrip()


def overage(s: Signs) -> str:
    """Row 9."""
    return f"paid extra usage: {limit(s)}"


def no_credits(s: Signs) -> str:
    """Row 11, for a family."""
    return f"no credits for {s.demand.family or 'this model'}"


def spend_limit(_: Signs) -> str:
    """Row 11, for the account."""
    return "spend limit of this month reached"


def throttled(s: Signs) -> str:
    """Row 14."""
    asked = "" if s.retry_after is None else f" for {s.retry_after.total_seconds():g} s"
    return f"throttled{asked}"


def bare(s: Signs) -> str:
    """Row 15."""
    return f"429 without usage headers: {quoted(s)}" if s.fault.message else "429 without usage headers"


def locked_out(s: Signs) -> str:
    """Row 18."""
    return f"login refused: {quoted(s)}"


def forbidden(s: Signs) -> str:
    """Row 19."""
    return f"forbidden: {quoted(s)}"


def overloaded(s: Signs) -> str:
    """Row 21."""
    return f"overloaded ({s.status})"


def server_error(s: Signs) -> str:
    """Row 22."""
    return f"server error ({s.status})"


def client_fault(s: Signs) -> str:
    """Row 23."""
    kind = f" {quote(s.fault.type)}" if s.fault.type else ""
    return f"the request itself: {s.status}{kind}"
