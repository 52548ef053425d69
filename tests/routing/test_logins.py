"""Tests of routing/logins.py."""

from datetime import timedelta

import pytest

from routing.health import Check
from routing.holds import Hold, Ladder, ended_login, unrenewed, unsigned
from routing.lifetimes import Lifetime
from routing.logins import Logins
from routing.observations import RenewalFailed
from tests.routing.made import ANN, BEN, NOON, account, hold, hours, seconds

MINUTE = timedelta(minutes=1)
FAILED = RenewalFailed(account=ANN, at=NOON, because="no answer", until=None, bars=False)


def refused_at(*minutes: int) -> Logins:
    """Ann's login was refused then, each time to a request of its own."""
    logins = Logins()
    for minute in minutes:
        at = NOON + minute * MINUTE
        assert logins.refused(ANN, at, at) is not None
    return logins


def test_requests_refused_together_are_one_refusal() -> None:
    """What was on its way when the login was refused climbs neither the ladder nor the schedule."""
    logins = refused_at(1)
    before = logins.check(ANN)

    assert logins.refused(ANN, NOON, NOON + 2 * MINUTE) is None
    assert logins.check(ANN) is before
    assert logins.ladders[ANN] == Ladder(failures=1, set_at=NOON + MINUTE)


@pytest.mark.parametrize(("sent", "forgiven"), [(-1, False), (0, False), (1, True)])
def test_an_acceptance_counts_if_it_was_asked_for_later(sent: float, forgiven: bool) -> None:
    """An answer to what went out before the refusal proves nothing against it."""
    logins = refused_at(0)
    logins.accepted(ANN, NOON + seconds(sent), NOON + 5 * MINUTE)

    assert (ANN not in logins.ladders) is forgiven
    assert (logins.check(ANN).failures == 0) is forgiven
    assert logins.check(ANN).checked_at == NOON + (5 if forgiven else 0) * MINUTE


def test_what_tells_nothing_puts_the_next_look_off() -> None:
    """By as much as the last; nothing is scheduled by it."""
    logins = refused_at(0, 1)
    logins.undecided(ANN, NOON + 3 * MINUTE)

    assert logins.check(ANN).next_at == NOON + 5 * MINUTE


def test_what_forgets_what() -> None:
    """Forgiving and a new credential end the schedule, not the time of the last word; only the latter ends a failed renewal."""
    logins = refused_at(0, 1)
    logins.unrenewed[ANN] = FAILED
    logins.forgive(ANN)
    assert (logins.ladders, logins.check(ANN)) == ({}, Check(checked_at=NOON + MINUTE))
    assert logins.unrenewed == {ANN: FAILED}

    logins.renew(ANN)
    assert logins.unrenewed == {}
    logins.undecided(BEN, NOON)
    logins.forgive(BEN)
    assert BEN not in logins.checks


def test_a_removed_account_is_forgotten() -> None:
    """Nothing of it stays."""
    logins = refused_at(0)
    logins.unrenewed[ANN], logins.lifetimes[ANN] = FAILED, Lifetime()
    logins.drop(ANN)

    assert logins == Logins()


def test_what_was_learned_since_the_start_is_newer() -> None:
    """Of others, what was known before is taken in."""
    logins = refused_at(0)
    logins.lifetimes[ANN] = Lifetime(is_refreshable=True)
    old = dict.fromkeys((ANN, BEN), Check(failures=7))
    logins.restore(
        dict.fromkeys((ANN, BEN), Ladder(failures=7, set_at=NOON)), old, dict.fromkeys((ANN, BEN), Lifetime())
    )

    assert [logins.ladders[one].failures for one in (ANN, BEN)] == [1, 7]
    assert [logins.checks[one].failures for one in (ANN, BEN)] == [1, 7]
    assert [logins.lifetimes[one].is_refreshable for one in (ANN, BEN)] == [True, False]


@pytest.mark.parametrize(
    ("held", "enabled", "expected"),
    [
        ((), True, False),
        ((hold(18),), True, True),
        ((hold(18),), False, False),
        ((hold(18, end=-1),), True, False),
        ((hold(13), hold(19)), True, False),
        ((hold(13), hold(18)), True, True),
        ((unrenewed(ANN, "x", NOON, NOON + hours(1)),), True, False),
        ((unsigned(ANN, "x"),), True, False),
        ((hold(18), unsigned(ANN, "x")), True, False),
        ((hold(18), ended_login(ANN, "x", NOON)), True, False),
    ],
)  # fmt: skip
def test_who_is_to_be_checked(held: tuple[Hold, ...], enabled: bool, expected: bool) -> None:
    """Enabled accounts that an answer or a check refused; not where only a secret or a new login helps."""
    logins = refused_at(0)
    due = logins.to_check({ANN: account(ANN, enabled=enabled)}, {ANN: held}, NOON + MINUTE)

    assert due == ((ANN,) if expected else ())


def test_a_check_waits_for_its_time() -> None:
    """Not before; one that no schedule knows, as of an older file, is due a minute after its refusal."""
    pool, held = {ANN: account(ANN), BEN: account(BEN)}, {ANN: (hold(18),), BEN: (hold(18, set_at=30),)}
    logins = refused_at(0)

    assert logins.to_check(pool, held, NOON + seconds(59)) == ()
    assert logins.to_check(pool, held, NOON + seconds(60)) == (ANN,)
    assert logins.to_check(pool, held, NOON + seconds(90)) == (ANN, BEN)
