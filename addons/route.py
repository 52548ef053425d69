"""Route: what a request needs, who serves it, and what comes next whenever an attempt has ended."""

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from mitmproxy import http

from addons import primary
from addons.attempts import keep
from addons.decisions import note
from addons.exchange import CLIENT, EXCHANGES, Answered, Exchange, Path, Pause, Relay, Resume, Send
from addons.guard import fail_closed
from addons.heartbeat import PATIENT, interval
from addons.judge import judge
from addons.limits import may_refuse_primary, observe, request_head
from addons.pauses import wake_paused
from addons.pins import Launches
from addons.relogin import Renewals, renewal_of
from addons.replies import own, response_of, stopping
from providers.contract import Provider
from routing.chains import Again, next_step, settle
from routing.decisions import Answer as OwnAnswer
from routing.decisions import Choice, GiveUp, Use, Wait
from routing.observations import Dispatched, Ended, Paused, Succeeded
from routing.relogin import relogin
from routing.router import Router
from routing.trail import Attempt
from routing.verdicts import OK_ROW, Verdict, VerdictKind
from routing.words import Account, AccountId, Demand, Family

OWN = "the client's own credential"
PASSED = Verdict(row=OK_ROW, kind=VerdictKind.OK, because=OWN)
UNANSWERED = Verdict(row=7, kind=VerdictKind.TRANSPORT, because="the client left before an answer came")
LEFT_TO_CLIENT = "the client's own credential, for all accounts were removed while it waited"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Route:
    """Turns requests into demands, and the Router's choices into steps of the replay layer."""

    name = "flowpool_route"

    def __init__(self, router: Router, accounts: Mapping[AccountId, Account], renewals: Renewals) -> None:
        self._router = router
        self._accounts = accounts
        self._renewals = renewals
        self._launches = Launches(router, accounts)
        self._is_ending = False

    def turn_away(self) -> None:
        """The proxy is about to end: nobody waits here for a recovery any more."""
        self._is_ending = True
        wake_paused()

    @fail_closed
    def request(self, flow: http.HTTPFlow) -> None:
        """Say what the request needs; a provider without accounts leaves it to the client's own credential."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or exchange.provider is None or flow.response is not None:
            return
        provider = exchange.provider
        if exchange.path is Path.POOLED:
            content = flow.request.raw_content or b""
            exchange.demand, exchange.size = provider.demand(request_head(flow.request), content), len(content)
            if not self._has_accounts(provider):
                self._leave_to_client(flow, exchange)
                return
            if exchange.pin:
                exchange.demand = self._launches.heed(exchange.demand, exchange.pin)
            if (every := interval(exchange, flow.request)) is not None:
                exchange.heartbeat = every
                exchange.demand = replace(exchange.demand, patience=PATIENT)
        else:
            replayable = flow.request.method in SAFE_METHODS
            exchange.demand = Demand(provider=provider.name, model="", family=Family(""), replayable=replayable)
            exchange.account = CLIENT
            if exchange.lacks_login:
                self._give_to_primary(flow, exchange, provider)

    def _leave_to_client(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        """Without accounts the client's own credential goes out, if it has one."""
        exchange.account, exchange.answer = CLIENT, "G"
        if exchange.lacks_login:
            flow.response = primary.none_there(exchange)

    def _give_to_primary(self, flow: http.HTTPFlow, exchange: Exchange, provider: Provider) -> None:
        """What is bound to an identity goes out on the primary's, for a client that has none."""
        found = primary.primary(self._accounts.values(), provider.name)
        if not self._has_accounts(provider):
            flow.response = primary.none_there(exchange)
        elif found is None:
            flow.response = primary.none_made(exchange)
        elif why := self._router.why_not_pinned(found.id):
            flow.response = primary.unfit(exchange, found, why)
        else:
            exchange.account = found.id

    def _has_accounts(self, provider: Provider) -> bool:
        return any(a.provider == provider.name and a.id != CLIENT for a in self._accounts.values())

    @fail_closed
    def flowpool_attempt(self, flow: http.HTTPFlow) -> None:
        """Judge the attempt that ended, if one did, and choose what comes next."""
        exchange = EXCHANGES[flow]
        if exchange.provider is None or exchange.demand is None:
            flow.response, exchange.step = own(exchange, 404, "nothing is served here", retry=False), Relay()
            return
        if exchange.pause is not None:
            self._resume(exchange, exchange.pause)
        refused = None
        if exchange.end is not None:
            verdict = self._judged(flow, exchange, exchange.provider, exchange.demand)
            if verdict is None:
                return
            if not self._conclude(flow, exchange, verdict):
                exchange.step = Relay()
                return
            refused = exchange.trail.last
        choice = self._choose(exchange, exchange.demand)
        note(exchange, choice, exchange.now(), self._router.explain)
        instead = self._instead(choice, exchange)
        if instead is None:
            self._apply(choice, exchange)
        else:
            flow.response, exchange.step = instead, Relay()
        if isinstance(choice, GiveUp):
            self._give_up(choice, flow, exchange, exchange.provider)
            return
        if refused is not None:
            self._leave(flow, refused, choice)
        if isinstance(choice, Use):
            flow.comment = f"{self._name(choice.account)}: {choice.because}"

    def _leave(self, flow: http.HTTPFlow, refused: Attempt, choice: Use | Wait) -> None:
        """Keep what an attempt that is over met; where the request is to pause, the place that it had is another's."""
        keep(flow, refused, choice, self._accounts)
        if isinstance(choice, Wait) and choice.account is None:
            wake_paused()

    def _instead(self, choice: Choice, exchange: Exchange) -> http.Response | None:
        """What is answered in a choice's place: nobody is left who could sign, or it would wait in a proxy that ends."""
        if exchange.lacks_login and isinstance(choice, Use) and choice.account == CLIENT:
            return primary.none_there(exchange)
        if self._is_ending and isinstance(choice, Wait) and choice.account is None:
            return stopping(exchange)
        return None

    def _name(self, account: AccountId) -> str:
        return self._accounts[account].name if account in self._accounts else account

    def _resume(self, exchange: Exchange, pause: Wait) -> None:
        """Come back from a pause, which may be before its time; one between tries is charged to the budget."""
        passed = min(timedelta(seconds=time.monotonic() - exchange.paused_at), exchange.pause_length)
        is_early = passed < exchange.pause_length
        exchange.pause, exchange.woken_from = None, pause.until if is_early and not pause.is_for_room else None
        if not is_early:
            exchange.floor = pause.until
        exchange.trail = exchange.trail.resumed(pause, passed, early=is_early)
        if pause.account is not None:
            exchange.waited += passed

    def _judged(self, flow: http.HTTPFlow, exchange: Exchange, provider: Provider, demand: Demand) -> Verdict | None:
        """What the attempt's end means; None while that hangs on the renewal of its account's login."""
        is_passed = not exchange.is_pooled and isinstance(exchange.end, Answered)
        if is_passed and not (flow.response and may_refuse_primary(flow.response, exchange)):
            return PASSED
        exchange.leftover, exchange.may_resume = None, False
        verdict = judge(flow.response, exchange, provider, demand)
        if is_passed and not verdict.asks_renewal:
            return PASSED
        if verdict.asks_renewal and exchange.is_signed:
            renewal = renewal_of(exchange, demand, self._renewals)
            if isinstance(renewal, Pause):
                exchange.step = renewal
                return None
            verdict = relogin(verdict, renewal=renewal)
        return settle(verdict, exchange.trail, demand, exchange.rules)

    def _conclude(self, flow: http.HTTPFlow, exchange: Exchange, verdict: Verdict) -> bool:
        """Take the attempt's end into the trail; False when it is what the client gets."""
        if verdict is PASSED:
            return False
        if verdict.row == OK_ROW:
            exchange.verdict = verdict
            return False
        if exchange.is_pooled:
            observe(self._router, exchange, verdict)
        if not verdict.blames_credential and exchange.leftover is not None:
            exchange.kept, exchange.kept_of = exchange.leftover, _author(exchange.account, verdict)
        status = flow.response.status_code if flow.response is not None else None
        self._grow(exchange, verdict, status)
        return True

    def _grow(self, exchange: Exchange, verdict: Verdict, status: int | None) -> None:
        assert exchange.account is not None
        assert exchange.sent_at is not None
        exchange.trail = exchange.trail.grown(
            Attempt(
                account=exchange.account,
                verdict=verdict,
                sent_at=exchange.sent_at,
                ended_at=exchange.now(),
                waited=exchange.waited,
                status=status,
            )
        )
        exchange.waited, exchange.sent_at, exchange.end = timedelta(), None, None
        exchange.renewal_due = None

    def _choose(self, exchange: Exchange, demand: Demand) -> Choice:
        """Ask the Router, which knows whose secret is at hand; the client's own login is not its business."""
        now = exchange.now()
        if exchange.account == CLIENT or exchange.is_on_primary:
            return self._fixed_choice(exchange, demand, now)
        choice = self._router.choose(demand, exchange.trail, now)
        if isinstance(choice, Use) and choice.account == CLIENT:
            return replace(choice, because=LEFT_TO_CLIENT)
        return choice

    def _fixed_choice(self, exchange: Exchange, demand: Demand, now: datetime) -> Choice:
        """The same bounds for what goes out on the client's own credential, or on the primary's, where nobody else can be asked."""
        trail, account = exchange.trail, exchange.account
        assert account is not None
        if trail.last is None:
            return Use(account=account, because=OWN if account == CLIENT else primary.BECAUSE)
        step = next_step(trail, demand, exchange.rules)
        if not isinstance(step, Again):
            return GiveUp(answer=OwnAnswer.RELAY, because=trail.last.verdict.because)
        if now >= step.at:
            return Use(account=account, because=f"again: {trail.last.verdict.because}")
        return Wait(until=step.at, account=account, because=trail.last.verdict.because)

    def _apply(self, choice: Choice, exchange: Exchange) -> None:
        """Turn a choice into the replay layer's next step."""
        exchange.because = choice.because
        match choice:
            case Use():
                self._use(choice, exchange)
            case Wait(until=until):
                exchange.may_resume = False
                until = until if exchange.woken_from is None else min(until, exchange.woken_from)
                exchange.pause, exchange.paused_at = replace(choice, until=until), time.monotonic()
                exchange.pause_length = max(until - exchange.now(), timedelta())
                exchange.step = Pause(exchange.pause_length.total_seconds())
                if choice.account is None:
                    self._rest(choice, exchange)
            case GiveUp():
                exchange.step = Relay()

    def _rest(self, choice: Wait, exchange: Exchange) -> None:
        """The request is in flight nowhere while it pauses."""
        self._router.observe(Paused(exchange=exchange.id, at=exchange.now(), queue=choice.queue))
        exchange.is_queued = bool(choice.queue)

    def _use(self, choice: Use, exchange: Exchange) -> None:
        now = exchange.now()
        last = exchange.trail.last
        leaves = exchange.is_queued or (last is not None and last.account != choice.account)
        exchange.is_queued = False
        exchange.account, exchange.sent_at, exchange.readings = choice.account, now, ()
        exchange.step = Send()
        if exchange.path is Path.POOLED and exchange.demand is not None:
            self._router.observe(
                Dispatched(
                    exchange=exchange.id,
                    account=choice.account,
                    demand=exchange.demand,
                    at=now,
                    is_move=choice.is_move,
                    is_free=choice.is_free,
                )
            )
            if leaves:  # who stood behind it has its turn
                wake_paused()

    def _give_up(self, choice: GiveUp, flow: http.HTTPFlow, exchange: Exchange, provider: Provider) -> None:
        """Put in the flow what the client gets; an answer that is relayed as it came is there already."""
        last = exchange.trail.last
        if choice.answer is OwnAnswer.RELAY and last is not None:
            exchange.served = _author(last.account, last.verdict)
        if exchange.is_on_primary and last is not None and last.verdict.blames_credential:
            flow.response, exchange.served = primary.refused(exchange, self._accounts.get(last.account)), None
            return
        if choice.answer is OwnAnswer.RELAY and exchange.may_resume:
            exchange.step = Resume()
            return
        if choice.answer is OwnAnswer.RELAY:
            reply = exchange.leftover
        elif choice.answer is OwnAnswer.RELAY_EARLIER and exchange.kept is not None:
            reply, exchange.served = exchange.kept, exchange.kept_of
        else:
            exchange.answer = choice.answer.value
            readings = () if choice.recovers is None else self._router.readings(choice.recovers.account)
            reply = provider.gave_up(choice, self._accounts, readings, exchange.now())
        if reply is not None:
            flow.response = response_of(reply)

    @fail_closed
    def response(self, flow: http.HTTPFlow) -> None:
        """The client has its answer: a success makes the conversation stick."""
        exchange = EXCHANGES.get(flow)
        if exchange is not None and not exchange.is_over:
            self._end(flow, exchange)

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """The exchange ended without an answer."""
        exchange = EXCHANGES.get(flow)
        if exchange is not None and not exchange.is_over:
            exchange.client_left = not flow.client_conn.connected
            self._end(flow, exchange)

    def _end(self, flow: http.HTTPFlow, exchange: Exchange) -> None:
        exchange.is_over = True
        if exchange.sent_at is not None and flow.response is not None and not exchange.faulty:
            exchange.served = exchange.account
        if exchange.path is not Path.POOLED or exchange.demand is None:
            return
        if exchange.sent_at is not None and exchange.account is not None:
            verdict = exchange.verdict or UNANSWERED
            if exchange.is_complete and not exchange.client_left:
                self._router.observe(
                    Succeeded(
                        exchange=exchange.id,
                        account=exchange.account,
                        demand=exchange.demand,
                        at=exchange.now(),
                        spent=None if exchange.usage is None else exchange.usage.spent,
                    )
                )
            self._grow(exchange, verdict, flow.response.status_code if flow.response is not None else None)
        self._router.observe(Ended(exchange=exchange.id, trail=exchange.trail, at=exchange.now()))
        wake_paused()


def _author(account: AccountId | None, verdict: Verdict) -> AccountId | None:
    """Whose answer is relayed of a refused attempt: where none came that makes sense, what the client gets is our own."""
    return None if verdict.kind is VerdictKind.TRANSPORT else account
