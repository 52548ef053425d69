"""By what the rows of docs/verdicts.md know an answer: the second column of its table."""

from collections.abc import Callable

from providers.anthropic import holds, phrases
from providers.anthropic.signs import Signs
from routing.rules import Overage

type Signature = Callable[[Signs], bool]

_SERVER_ERRORS = range(500, 600)
_OVERLOADED = 529


def always(_: Signs) -> bool:
    """Whatever came."""
    return True


def on(status: int, also: Signature = always) -> Signature:
    """One status, and something more about the answer."""
    return lambda s: s.status == status and also(s)


def on_server_error(also: Signature = always) -> Signature:
    """Any 5xx, and something more about the answer."""
    return lambda s: s.status in _SERVER_ERRORS and also(s)


def says(*phrases_: str) -> Signature:
    """The error's message holds one of these, in lower case here and in any case there."""
    return lambda s: any(phrase in s.fault.message.lower() for phrase in phrases_)


def coded(code: str) -> Signature:
    """The error's details carry this code."""
    return lambda s: s.fault.code == code


def is_answered(s: Signs) -> bool:
    """A success that is not to be avoided, so far as it was read."""
    return s.is_good and not s.in_stream and not is_avoided(s)


def is_avoided(s: Signs) -> bool:
    """A success that was served as paid extra usage, against the person's wish."""
    return s.is_good and holds.is_overage(s) and s.rules.routing.overage is not Overage.ALLOW


def is_line_limit(s: Signs) -> bool:
    """A rejection for which a model line's window alone is the cause."""
    return s.is_rejected and s.is_of_one_line


def is_limit(s: Signs) -> bool:
    """A rejection."""
    return s.is_rejected


def is_throttle(s: Signs) -> bool:
    """A refusal that tells of use."""
    return s.has_usage


def is_short_throttle(s: Signs) -> bool:
    """The same, with so short a wait asked that waiting is best."""
    return s.has_usage and s.throttle_s <= s.rules.retry.throttle_wait_s


def is_startup(s: Signs) -> bool:
    """An answer to the client's start-up check."""
    return s.demand.startup


def is_account_on_hold(s: Signs) -> bool:
    """The account, not the request, is what the provider will not serve."""
    return phrases.is_on_hold(s.fault.message)


def is_usage_limit(s: Signs) -> bool:
    """A limit was reached that somebody set for the account."""
    return phrases.is_usage_limit(s.fault.message)


def is_overloaded(s: Signs) -> bool:
    """The service says that it has too much to do."""
    return s.status == _OVERLOADED or s.fault.type == "overloaded_error"


def forbids_retry(s: Signs) -> bool:
    """The service says that another try is in vain."""
    return s.retry_forbidden
