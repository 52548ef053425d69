"""Judge: what an ended attempt means, and what the client would get of it if nothing else may be tried."""

from mitmproxy import http

from addons.exchange import Answered, Exchange, Failed
from addons.limits import head_of
from addons.replies import SUCCESS, decoded_body, fields_of, is_whole_json
from providers.contract import Answer, ErrorEvent, Provider, Reply
from routing.transport import Failure, transport_verdict
from routing.verdicts import OK_ROW, Verdict, VerdictKind
from routing.words import Demand

NOT_AN_ANSWER = Verdict(row=3, kind=VerdictKind.TRANSPORT, because="a 2xx that is neither JSON nor an event stream")
_EVENT_STATUS = {VerdictKind.OVERLOADED: 529, VerdictKind.BARE: 429, VerdictKind.CLIENT_FAULT: 400}
_FAILURE_STATUS = {Failure.EMPTY_STREAM: 529}


def judge(response: http.Response | None, exchange: Exchange, provider: Provider, demand: Demand) -> Verdict:
    """The verdict on the attempt that ended; notes in the exchange what would be relayed of it.

    Row 8 is the verdict on a good answer that was read whole; a stream never comes here with it.
    """
    match exchange.end:
        case Failed() as failed:
            return _failed(failed, exchange, provider, demand)
        case ErrorEvent(data=data):
            assert response is not None
            return _began_with_error(data, response, exchange, provider, demand)
        case Answered() as answered:
            assert response is not None
            return _answered(answered, response, exchange, provider, demand)
        case None:
            raise AssertionError("only an attempt that ended can be judged")


def _failed(failed: Failed, exchange: Exchange, provider: Provider, demand: Demand) -> Verdict:
    status = 504 if failed.timed_out else _FAILURE_STATUS.get(failed.failure, 502)
    exchange.leftover = provider.failed(status, f"flowpool got no answer from the provider: {failed.why}", retry=True)
    return transport_verdict(failed.failure, failed.why, demand, exchange.rules)


def _began_with_error(
    data: bytes, response: http.Response, exchange: Exchange, provider: Provider, demand: Demand
) -> Verdict:
    answer = Answer(status=response.status_code, headers=head_of(response).headers, error_event=data)
    verdict = provider.classify(answer, demand, exchange.rules, exchange.now())
    exchange.may_resume = True
    status = _EVENT_STATUS.get(verdict.kind, 502)  # for when the stream is gone by the time that it is wanted
    exchange.leftover = provider.failed(status, verdict.because, retry=verdict.kind is not VerdictKind.CLIENT_FAULT)
    return verdict


def _answered(
    answered: Answered, response: http.Response, exchange: Exchange, provider: Provider, demand: Demand
) -> Verdict:
    if response.status_code in SUCCESS and not answered.unread:
        return _whole(response, exchange, provider, demand)
    head, now = head_of(response), exchange.now()
    if answered.unread:
        verdict = provider.classify(head, demand, exchange.rules, now)
        if verdict.row == OK_ROW:
            return _misread(exchange, provider)
        exchange.may_resume = True
        return verdict
    answer = Answer(status=head.status, headers=head.headers, body=decoded_body(response))
    verdict = provider.classify(answer, demand, exchange.rules, now)
    exchange.leftover = _leftover(answered, response, answer, provider, verdict)
    return verdict


def _whole(response: http.Response, exchange: Exchange, provider: Provider, demand: Demand) -> Verdict:
    """A 2xx that was good by its head, as addons/limits.py saw, is row 8 if all of it came."""
    if not response.raw_content and "event-stream" in response.headers.get("content-type", ""):
        return _failed(Failed(Failure.EMPTY_STREAM, "an event stream without events"), exchange, provider, demand)
    body = decoded_body(response)
    if not response.raw_content or (body and not is_whole_json(body)):
        return _failed(Failed(Failure.BROKEN, "a JSON body that is not whole"), exchange, provider, demand)
    exchange.usage = provider.usage(body)
    exchange.is_complete = True
    assert exchange.verdict is not None
    return exchange.verdict


def _misread(exchange: Exchange, provider: Provider) -> Verdict:
    exchange.leftover = provider.failed(502, f"the provider sent {NOT_AN_ANSWER.because}", retry=True)
    return NOT_AN_ANSWER


def _leftover(
    answered: Answered, response: http.Response, answer: Answer, provider: Provider, verdict: Verdict
) -> Reply:
    if answered.broken:
        return provider.failed(answer.status, "the provider broke this answer off", retry=True)
    return provider.relayed(answer, fields_of(response), response.raw_content or b"", verdict)
