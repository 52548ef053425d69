"""Limits: an answer's head becomes readings, and says how the rest of it is to be read."""

from functools import lru_cache

from mitmproxy import http

from addons.exchange import EXCHANGES, Course, Exchange, Path
from addons.guard import fail_closed
from addons.replies import SUCCESS
from providers.contract import Answer, Head, Provider
from routing.observations import Answered
from routing.router import Router
from routing.verdicts import OK_ROW, Verdict

REFUSALS = frozenset({401, 403})
"""What an answer about a login has as its status."""


class Limits:
    """Reads the head of every answer to a pooled request."""

    name = "flowpool_limits"

    def __init__(self, router: Router) -> None:
        self._router = router

    @fail_closed
    def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Take the readings; an answer that its head shows to be good is observed at once."""
        exchange = EXCHANGES.get(flow)
        if exchange is None or flow.response is None or exchange.sent_at is None:
            return
        exchange.course, exchange.verdict = Course.STREAM, None
        if exchange.path is Path.POOLED and exchange.provider is not None:
            self._read_head(exchange, exchange.provider, head_of(flow.response))
        elif may_refuse_primary(flow.response, exchange):
            exchange.course = Course.WHOLE

    def _read_head(self, exchange: Exchange, provider: Provider, answer: Answer) -> None:
        assert exchange.demand is not None
        assert exchange.sent_at is not None
        now = exchange.now()
        exchange.readings = provider.readings(answer.headers, sent_at=exchange.sent_at, now=now)
        if not exchange.is_pooled:  # every answer is relayed to the client whose own credential it is
            observe(self._router, exchange, provider.classify(answer, exchange.demand, exchange.rules, now))
            if exchange.beats and not _is_stream(answer):  # it is to be told as an event
                exchange.course = Course.WHOLE
            return
        exchange.course = Course.WHOLE
        if answer.status in SUCCESS:
            self._take(exchange, answer, provider.classify(answer, exchange.demand, exchange.rules, now))

    def _take(self, exchange: Exchange, answer: Answer, verdict: Verdict) -> None:
        """Choose the course of a 2xx; row 8 takes it by its head."""
        is_stream = _is_stream(answer)
        if verdict.row != OK_ROW or not (is_stream or "json" in _kind(answer)):
            exchange.course = Course.UNREAD
            return
        exchange.course = Course.GATE if is_stream else Course.WHOLE
        observe(self._router, exchange, verdict)


def may_refuse_primary(response: http.Response, exchange: Exchange) -> bool:
    """Whether an answer may be about the primary's login, which its body tells, rather than for the client."""
    return exchange.is_on_primary and response.status_code in REFUSALS


def _kind(answer: Answer) -> str:
    return answer.headers.get("content-type", "").lower()


def _is_stream(answer: Answer) -> bool:
    return "event-stream" in _kind(answer)


def observe(router: Router, exchange: Exchange, verdict: Verdict) -> None:
    """Tell the Router what the attempt in flight met."""
    assert exchange.account is not None
    assert exchange.demand is not None
    assert exchange.sent_at is not None
    exchange.verdict = verdict
    router.observe(
        Answered(
            exchange=exchange.id,
            account=exchange.account,
            demand=exchange.demand,
            verdict=verdict,
            sent_at=exchange.sent_at,
            at=exchange.now(),
            readings=exchange.readings,
        )
    )


def head_of(response: http.Response) -> Answer:
    """A response's head as providers read it."""
    return Answer(status=response.status_code, headers=_headers(response))


def request_head(request: http.Request) -> Head:
    """A request's head as providers read it; its secrets are masked."""
    return Head(method=request.method, path=request.path, headers=_headers(request))


def _headers(message: http.Message) -> dict[str, str]:
    """The first value of each name, in lower case."""
    fields = message.headers.fields
    return {_lower(name): value.decode("latin-1") for name, value in reversed(fields)}


@lru_cache(maxsize=512)  # the same names come with every message
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()
