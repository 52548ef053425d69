"""What is done about a refused login, for one request: wait, go on, or let go."""

import time
from dataclasses import dataclass, field

from addons.exchange import Exchange, Pause
from addons.relogin import renewal_of
from credentials.secret import Secret
from routing.relogin import Renewal
from routing.words import AccountId
from tests.addons import made
from tests.routing.made import ANN, demand


@dataclass
class Renewing:
    """A renewal that goes as a test says; asked: how often one was begun, late: how often it was given up on."""

    outdated: bool = False
    runs: bool = True
    answer: Renewal | None = None
    asked: list[AccountId] = field(default_factory=list)
    late_for: list[float] = field(default_factory=list)

    def is_outdated(self, account: AccountId, sent: Secret | None) -> bool:
        """As the test says."""
        assert (account, sent) == (ANN, Secret("at"))
        return self.outdated

    def is_running(self, account: AccountId) -> bool:
        """As the test says."""
        assert account == ANN
        return self.runs

    def ask(self, account: AccountId) -> Renewal | None:
        """Count."""
        self.asked.append(account)
        return self.answer

    def late(self, account: AccountId, patience: float) -> None:
        """Count."""
        assert account == ANN
        self.late_for.append(patience)


def refused() -> Exchange:
    """An exchange whose attempt on ann was refused."""
    return made.exchange(account=ANN, signed=Secret("at"))


def test_a_renewal_is_waited_for_and_then_the_same_account_goes_on() -> None:
    """It is begun once, however often the request looks again meanwhile."""
    exchange, renewing = refused(), Renewing()

    first = renewal_of(exchange, demand(), renewing)
    again = renewal_of(exchange, demand(), renewing)
    assert isinstance(first, Pause)
    assert isinstance(again, Pause)
    assert 0 < again.seconds <= first.seconds <= exchange.rules.retry.renewal_s
    renewing.outdated, renewing.runs = True, False
    assert renewal_of(exchange, demand(), renewing) is Renewal.DONE
    assert renewing.asked == [ANN]


def test_a_newer_token_is_there_already() -> None:
    """Nothing is begun, and nobody waits."""
    renewing = Renewing(outdated=True)

    assert renewal_of(refused(), demand(), renewing) is Renewal.OUTDATED
    assert renewing.asked == []


def test_a_renewal_that_gave_nothing_has_failed() -> None:
    """It ended, and the token is the same."""
    exchange, renewing = refused(), Renewing()
    renewal_of(exchange, demand(), renewing)
    renewing.runs = False

    assert renewal_of(exchange, demand(), renewing) is Renewal.FAILED
    assert renewing.late_for == []


def test_a_renewal_that_takes_too_long_is_not_waited_for() -> None:
    """Others are kept away from the account meanwhile."""
    exchange, renewing = refused(), Renewing()
    renewal_of(exchange, demand(), renewing)
    exchange.renewal_due = time.monotonic()

    assert renewal_of(exchange, demand(), renewing) is Renewal.FAILED
    assert renewing.late_for == [exchange.rules.retry.renewal_s]


def test_what_cannot_be_renewed_is_said_at_once() -> None:
    """Whatever the reason is."""
    for answer in (Renewal.NONE, Renewal.FAILED):
        assert renewal_of(refused(), demand(), Renewing(answer=answer)) is answer


def test_a_side_call_waits_for_nobody() -> None:
    """It begins the renewal and moves on, and keeps nobody away."""
    renewing = Renewing()

    assert renewal_of(refused(), demand(side=True), renewing) is Renewal.FAILED
    assert (renewing.asked, renewing.late_for) == ([ANN], [])
