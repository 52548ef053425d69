"""Alarm: says once that no login of a provider works any more, and once that one does again."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime

from addons.rounds import Rounds
from home.state.state import utc_now
from routing.outage import Outage
from routing.router import Router

EVERY = 1.0  # seconds between two looks
MEND = "run: flowpool doctor"

logger = logging.getLogger(__name__)


class Alarm:
    """One incident is one line, however many accounts and requests it concerns, and one more when it is over (D8).

    providers: by name.
    """

    name = "flowpool_alarm"

    def __init__(
        self,
        router: Router,
        providers: Iterable[str],
        *,
        every: float = EVERY,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._router = router
        self._providers = tuple(providers)
        self._clock = clock
        self._outages: dict[str, Outage] = {}
        self._rounds = Rounds("alarm", self.look, every)

    def running(self) -> None:
        """Begin to look."""
        self._rounds.start()

    def done(self) -> None:
        """Look no more."""
        self._rounds.stop()

    @property
    def notices(self) -> tuple[str, ...]:
        """The incidents that last, a line each."""
        return tuple(_said(provider, outage) for provider, outage in self._outages.items())

    def look(self) -> None:
        """Say what begins and what ends."""
        for provider in self._providers:
            before, now = self._outages.pop(provider, None), self._router.outage(self._clock(), provider=provider)
            if now is not None:
                self._outages[provider] = before or now
            if now is not None and before is None:
                logger.warning("flowpool: %s", _said(provider, now))
            elif now is None and before is not None:
                logger.warning("flowpool: logins of %s work again", provider)


def _said(provider: str, outage: Outage) -> str:
    since = f" since {outage.since:%H:%M} UTC" if outage.since else ""
    return f"no login of {provider} works{since}: {', '.join(outage.names)}; {MEND}"
