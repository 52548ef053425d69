"""For how long, and for what, a refusal keeps an account from being asked."""

from datetime import timedelta

from providers import times
from providers.anthropic.signs import Signs, limit_end
from routing.readings import Status
from routing.verdicts import AuthLadder, HoldOrder, SoonestReset


def is_overage(s: Signs) -> bool:
    """Whether the provider calls the request as a whole rejected, though it may have been served for pay."""
    return s.unified_status is Status.REJECTED


def limit(s: Signs) -> HoldOrder:
    """Rows 9, 12 and 13: until the windows that ran out are counted anew."""
    if s.is_of_one_line:
        windows = s.rejected or ((s.claim,) if s.claim else ())
        until = limit_end(s, windows, max(windows, key=lambda window: window.length))
    else:
        windows = tuple(window for window in s.rejected if window.is_shared)
        until = limit_end(s, windows, s.claim)
    family = s.demand.family if s.is_of_one_line else None
    keys = frozenset(window.key for window in windows or filter(None, (s.claim,)))
    return HoldOrder(until=until, family=family, windows=keys)


def throttle(s: Signs) -> HoldOrder:
    """Row 14: while the provider asks us to stay away, within reason."""
    return HoldOrder(until=s.after(min(s.throttle_s, s.rules.hold.throttle_s)))


def credit(s: Signs) -> HoldOrder:
    """Row 11: the asked family needs credits that the account has not."""
    return HoldOrder(until=s.after(s.rules.hold.credits_s), family=s.demand.family)


def month(s: Signs) -> HoldOrder:
    """Row 11: the month's spend limit is reached."""
    return HoldOrder(until=times.next_month(s.now))


def auth(_: Signs) -> HoldOrder:
    """Row 18: the credential is not accepted."""
    return HoldOrder(until=AuthLadder())


def forbidden(s: Signs) -> HoldOrder:
    """Row 19: the account may not do this for the asked family."""
    return HoldOrder(until=s.after(s.rules.hold.forbidden_s), family=s.demand.family)


def balance(s: Signs) -> HoldOrder:
    """Row 20: somebody has to pay in first."""
    return HoldOrder(until=s.after(s.rules.hold.balance_s))


def soonest_reset(s: Signs) -> HoldOrder:
    """Row 20: the account's own windows decide when it is worth asking."""
    return HoldOrder(until=SoonestReset(otherwise=timedelta(seconds=s.rules.hold.credits_s)))
