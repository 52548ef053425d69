"""Exchanges played through the real addons without a proxy: what the replay layer would do is said step by step.

turn = Pool("work", "home").asks()
turn.sent_on("work").gets(limit("7d")).sent_on("home").streams(ok("hello"))
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Self

from mitmproxy import flow as flows
from mitmproxy import http

from addons.admit import Admit
from addons.exchange import EXCHANGES, Answered, Course, Failed, Pause, Relay, Resume, Send
from addons.limits import Limits
from addons.requestlog import RequestLog
from addons.route import Route
from addons.stream import Passage
from credentials.secret import Secret
from home.tables import Settings
from providers.anthropic import ANTHROPIC
from providers.contract import ErrorEvent
from routing.observations import AccountsChanged
from routing.relogin import Renewal
from routing.router import Router
from routing.snapshot import AccountPicture
from routing.transport import Failure
from routing.words import Account, AccountId, Kind
from tests.addons import made
from tests.upstream.answer import Answer


class Renewals:
    """Renewals as a story says: standing is what comes of asking; None leaves it under way."""

    def __init__(self) -> None:
        self.standing: Renewal | None = Renewal.NONE
        self.is_new = False

    def is_outdated(self, account: AccountId, sent: Secret | None) -> bool:
        """Whether a new token has come."""
        del account, sent
        return self.is_new

    def is_running(self, account: AccountId) -> bool:
        """Whether it is under way."""
        del account
        return self.standing is None

    def ask(self, account: AccountId) -> Renewal | None:
        """What comes of asking."""
        del account
        return self.standing

    def late(self, account: AccountId, patience: float) -> None:
        """Nothing: the stories' holds are their own."""


class Pool:
    """The addons of a pool whose accounts are asked in order; with no account the client's own credential goes out."""

    def __init__(
        self, *names: str, kind: Kind = Kind.OAUTH, enabled: bool = True, without: Iterable[str] = (), **settings: Any
    ) -> None:
        self.accounts = made.accounts(*names, kind=kind, enabled=enabled)
        self.settings = Settings(**settings)
        self.router = Router(self.settings.rules)
        client = Account(id=AccountId("client"), name="client", provider="anthropic", kind=Kind.OAUTH)
        pool = self.accounts or {client.id: client}
        unsigned = dict.fromkeys(map(AccountId, without), "no readable secret is stored")
        self.router.observe(AccountsChanged(accounts=tuple(pool.values()), unsigned=unsigned))
        self.signer = made.signer(self.accounts, without=unsigned)
        self.admit = Admit(self.settings, {made.UPSTREAM: ANTHROPIC})
        self.limits = Limits(self.router)
        self.renewals = Renewals()
        self.route = Route(self.router, pool, self.renewals)
        self.log = RequestLog(pool)

    def asks(self, request: http.Request | None = None) -> "Turn":
        """A client's request, as far as the first choice."""
        return Turn(self, made.flow(request))

    def account(self, name: str) -> AccountPicture:
        """How an account stands now."""
        accounts = self.router.snapshot(datetime.now(UTC)).accounts
        return next(picture for picture in accounts if picture.account.name == name)

    def holds(self, name: str) -> list[tuple[str, int]]:
        """Scope and row of an account's holds."""
        return [(hold.scope, hold.row) for hold in self.account(name).holds]


class Turn:
    """One exchange, at the moment when the replay layer looks at its next step."""

    def __init__(self, pool: Pool, flow: http.HTTPFlow) -> None:
        self.pool, self.flow = pool, flow
        pool.admit.requestheaders(flow)
        self.exchange = EXCHANGES[flow]
        pool.route.request(flow)
        self.chooses()

    def chooses(self) -> Self:
        """Ask the addons what comes next."""
        self.pool.route.flowpool_attempt(self.flow)
        return self

    def sent_on(self, account: str, because: str = "") -> Self:
        """The next step is to send it on that account."""
        assert (self.exchange.step, self.exchange.account) == (Send(), account), self.exchange.because
        assert because in self.exchange.because
        self.flow.response = self.flow.error = None
        self.exchange.end = None
        return self

    def begins(self, answer: Answer) -> Self:
        """The head of an answer has come."""
        self.flow.response = made.head(answer)
        self.pool.limits.responseheaders(self.flow)
        return self

    def gets(self, answer: Answer, *, broken: bool = False) -> Self:
        """The answer ends the attempt, read along the course that the addons chose."""
        self.begins(answer)
        assert self.flow.response is not None
        if self.exchange.course is Course.UNREAD:
            self.exchange.end = Answered(unread=True)
        elif self.exchange.course is Course.GATE:
            decided = self._passage().take(answer.body)
            assert isinstance(decided, ErrorEvent), "this stream is an answer: use streams"
            self.exchange.end = decided
        else:
            self.flow.response.data.content = answer.body
            self.exchange.end = Answered(broken=broken)
        return self.chooses()

    def fails(self, failure: Failure, why: str = "it broke", *, timed_out: bool = False) -> Self:
        """No answer came."""
        self.exchange.end = Failed(failure, why, timed_out)
        return self.chooses()

    def streams(self, answer: Answer) -> Self:
        """The answer passes on to the client as it comes, and ends as the upstream ended it."""
        self.begins(answer)
        assert self.exchange.course in {Course.GATE, Course.STREAM}
        return self.passes(answer)

    def passes(self, answer: Answer) -> Self:
        """The answer that has begun passes on and ends."""
        passage = self._passage()
        passage.take(answer.body)
        list(passage.last_words("it broke off", broken=False))
        self.exchange.usage, self.exchange.is_complete = passage.usage, passage.is_complete
        return self.responds()

    def _passage(self) -> Passage:
        assert self.flow.response is not None
        passage = Passage.of(self.flow.response, ANTHROPIC, is_message=True)
        assert passage is not None
        return passage

    def pauses(self, low: float, high: float, because: str = "", *, woken: bool = False) -> Self:
        """The next step is a pause of so many seconds; it passes at once, or the request is woken before its end."""
        step = self.exchange.step
        assert isinstance(step, Pause), self.exchange.because
        assert low <= step.seconds <= high
        assert because in self.exchange.because
        self.exchange.paused_at -= 0 if woken else step.seconds
        return self.chooses()

    def resumes(self) -> Self:
        """The next step is to take the answer that is still coming."""
        assert self.exchange.step == Resume()
        return self

    def relays(self, status: int, answer: str | None = None) -> Self:
        """The next step is to give the client what the flow has, under that letter if it is our own."""
        assert self.exchange.step == Relay(), self.exchange.because
        assert self.flow.response is not None
        assert (self.flow.response.status_code, self.exchange.answer) == (status, answer)
        assert not self.exchange.faulty
        return self.responds()

    def responds(self) -> Self:
        """The client has its answer."""
        for addon in (self.pool.route, self.pool.log):
            addon.response(self.flow)
        return self

    def breaks(self, *, client_left: bool = True) -> Self:
        """The exchange ends without an answer."""
        self.flow.error = flows.Error("gone")
        if client_left:
            self.flow.client_conn.timestamp_end = 1.0
            self.flow.client_conn.state = type(self.flow.client_conn.state)(0)
        for addon in (self.pool.route, self.pool.log):
            addon.error(self.flow)
        return self

    @property
    def error(self) -> tuple[int, str, str]:
        """What the client gets, where it is an error."""
        return made.error_of(self.flow.response)

    @property
    def rows(self) -> list[tuple[str, int]]:
        """Whom the exchange asked, and under which row each refused."""
        return [(attempt.account, attempt.verdict.row) for attempt in self.exchange.trail.attempts]

    @property
    def line(self) -> dict[str, Any]:
        """The exchange's line of the request log."""
        document: dict[str, Any] = json.loads(json.dumps(self.pool.log.line(self.flow, self.exchange)))
        return document
