"""What one answer shows."""

from datetime import timedelta

from providers.anthropic import signs
from providers.contract import Answer
from routing.windows import Window
from tests.providers.samples import NOON, OPUS, RULES, at, error, sample, unified

HOUR, WEEK = timedelta(hours=1), timedelta(days=7)
SESSION = Window("5h", timedelta(hours=5))


def shown(headers: dict[str, str], status: int = 429, event: bytes | None = None) -> signs.Signs:
    answer = Answer(status=status, headers=headers, body=error("a_error", "body"), error_event=event)
    return signs.Signs(answer=answer, demand=OPUS, rules=RULES, now=NOON)


def test_a_recorded_limit() -> None:
    """Everything that the rows look at is told from the answer at once."""
    told = signs.Signs(answer=sample("429-week.http")[0], demand=OPUS, rules=RULES, now=NOON)
    assert told.fault.type == "rate_limit_error"
    assert told.claim is not None
    assert (told.claim.key, told.unified_reset) == ("7d", NOON + timedelta(seconds=250200))
    assert [window.key for window in told.rejected] == ["7d"]
    assert (told.is_rejected, told.is_of_one_line, told.is_good, told.has_usage) == (True, False, False, True)
    assert told.retry_after == timedelta(seconds=250200)
    assert not told.in_stream


def test_what_a_rejection_is() -> None:
    """The request's status or a window's own is a rejection; overage and full windows are none."""
    assert shown(unified(status="rejected")).is_rejected
    assert shown(unified(w5h_status="rejected")).is_rejected
    assert not shown(unified(overage_status="rejected", w5h_utilization="1.2")).is_rejected


def test_whose_limit_it_is() -> None:
    """A shared window outranks a line; where none is rejected the claim tells."""
    assert shown(unified(w7d__opus_status="rejected")).is_of_one_line
    assert not shown(unified(w7d__opus_status="rejected", w7d_status="rejected")).is_of_one_line
    assert shown(unified(representative_claim="seven_day_opus")).is_of_one_line
    assert not shown(unified(representative_claim="seven_day")).is_of_one_line
    assert not shown({}).is_of_one_line


def test_an_event_outranks_the_body() -> None:
    """Of a stream that began with an error, that error is read, and stands apart from the stream's headers."""
    told = shown(unified(status="rejected", representative_claim="five_hour"), 200, error("timeout_error"))
    assert (told.in_stream, told.fault.type, told.is_good) == (True, "timeout_error", True)
    apart = signs.outside_stream(told)
    assert (apart.status, apart.is_rejected, apart.has_usage, apart.claim) == (504, False, False, None)
    assert signs.outside_stream(shown({}, 200, b"junk")).status == 400


def test_the_throttle_s_wait() -> None:
    """A throttle that names no wait means the set one."""
    assert shown({"retry-after": "7"}).throttle_s == 7
    assert shown({}).throttle_s == RULES.retry.throttle_default_s


def test_when_a_limit_ends() -> None:
    """Its windows tell first, then the answer's own reset, then retry-after, then the set span; each within bounds."""
    both = shown(unified(w5h_status="rejected", w5h_reset=at(hours=2), reset=at(hours=3)) | {"retry-after": "60"})
    assert signs.limit_end(both, (SESSION,), None) == NOON + 2 * HOUR
    assert signs.limit_end(both, (), None) == NOON + 3 * HOUR
    far = shown(unified(reset=at(days=6)) | {"retry-after": "60"})
    assert signs.limit_end(far, (), SESSION) == NOON + 5 * HOUR + timedelta(minutes=10)
    slow = shown({"retry-after": str(30 * 86400)})
    assert signs.limit_end(slow, (), None) == NOON + WEEK + timedelta(minutes=10)
    assert signs.limit_end(shown({}), (), None) == NOON + timedelta(seconds=RULES.hold.unknown_s)
