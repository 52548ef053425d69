"""Probe: keeps what is known of accounts' windows fresh while no client asks anything of them.

What it meets slows only itself down: no hold is set, no login is blamed, no request waits for it.
"""

import logging
from datetime import datetime
from typing import Any

from addons.measure import Measure
from addons.rounds import Rounds
from credentials.credential import Credential
from credentials.renewal import fingerprint
from home.pictures import moment
from providers.anthropic import usage
from providers.anthropic.usage import Finding, Said
from routing.gauges import Gauge
from routing.measuring import Plan, Way, plan
from routing.observations import Gauged
from routing.rules import Probing
from routing.snapshot import AccountPicture
from routing.words import AccountId

EVERY = 2.0  # seconds between two looks for who is to be measured

logger = logging.getLogger(__name__)


class Probe:
    """One question at a time."""

    name = "flowpool_probe"

    def __init__(self, measure: Measure, rules: Probing, *, every: float = EVERY) -> None:
        self._accounts, self._router, self._clock = measure.accounts, measure.router, measure.clock
        self._measure = measure
        self._rules = rules
        self._rounds = Rounds("probe", self.look, every)

    def running(self) -> None:
        """Begin to look, where there is a way to measure anybody."""
        if self._rules.usage or self._rules.paid:
            self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()
        self._measure.stop()

    async def look(self) -> None:
        """Measure everybody whose time has come."""
        pictures = self._router.snapshot(self._clock()).accounts
        for picture in pictures:
            now = self._clock()
            planned = self._plan(picture, now)
            if planned is not None and planned.is_due(now):
                await self._probe(picture, planned)

    def told(self, picture: AccountPicture, now: datetime) -> dict[str, Any]:
        """What the document of `status` has of an account besides its picture."""
        planned = self._plan(picture, now)
        if planned is None:
            return {"measuring": None}
        by = planned.by.value if planned.by else None
        return {"measuring": {"by": by, "next_at": moment(planned.next_at), "because": planned.because}}

    def _plan(self, picture: AccountPicture, now: datetime) -> Plan | None:
        """None for one without a credential of its own, as for the client's."""
        account = picture.account
        credential = self._accounts.credentials.get(account.id)
        if credential is None:
            return None
        may_ask = usage.may_ask(account.kind, credential.extras.get("scopes"))
        return plan(picture, self._gauge(account.id, credential), self._rules, now, may_ask_usage=may_ask)

    def _gauge(self, account: AccountId, credential: Credential) -> Gauge:
        return self._router.gauge(account).facing(fingerprint(credential.access))

    async def _probe(self, picture: AccountPicture, planned: Plan) -> None:
        account = picture.account
        credential = self._accounts.credentials[account.id]
        gauge = self._gauge(account.id, credential)
        self._note(account.id, gauge.asked(self._clock()))
        is_prime = False
        if planned.by is Way.USAGE:
            finding = await self._measure.by_usage(account.id)
        else:
            finding, is_prime = await self._measure.by_request(account.id)
        gauge = self._after(gauge, finding)
        self._note(account.id, gauge)
        if not is_prime:
            _say(account.name, finding, gauge)

    def _note(self, account: AccountId, gauge: Gauge) -> None:
        """Have it remembered, over a restart too."""
        self._router.observe(Gauged(account=account, gauge=gauge))

    def _after(self, gauge: Gauge, finding: Finding) -> Gauge:
        now = self._clock()
        match finding.said:
            case Said.READ:
                return gauge.read(now)
            case Said.CLOSED:
                return gauge.closed(now)
            case Said.LIMITED:
                return gauge.throttled(now, _failed(finding), self._rules, finding.retry_after)
            case Said.NOTHING:
                return gauge.failed(now, _failed(finding), self._rules)


def _failed(finding: Finding) -> str:
    return f"it could not be measured: {finding.detail}"


def _say(name: str, finding: Finding, gauge: Gauge) -> None:
    """Log what became of it; of failures in a row the first alone is worth a line of its own."""
    if finding.said is Said.CLOSED:
        logger.info("flowpool: the token of %s may not ask for its use; only answers tell it", name)
    elif finding.said is Said.READ:
        logger.debug("flowpool: measured %s", name)
    else:
        level = logging.INFO if gauge.failures == 1 else logging.DEBUG
        logger.log(level, "flowpool: %s was not measured: %s; its requests go on", name, finding.detail)
