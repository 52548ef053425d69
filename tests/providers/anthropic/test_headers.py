"""What an answer's headers say about use and limits."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic import headers
from routing.readings import Reading, Status
from routing.windows import Window
from tests.providers.samples import NOON, UNIFIED, at, sample, unified

SENT = NOON - timedelta(seconds=2)
HOUR = timedelta(hours=1)


def read(fields: dict[str, str]) -> tuple[Reading, ...]:
    return headers.readings(fields, sent_at=SENT, now=NOON)


def window(key: str) -> Window:
    parsed = Window.parse(key)
    assert parsed is not None
    return parsed


@given(
    fields=st.dictionaries(
        st.builds(
            lambda key, field: f"{UNIFIED}{key}-{field}",
            st.sampled_from(["5h", "7d", "7d_oi", "overage", "fallback", "0h", "9999d_x"]) | st.text(max_size=6),
            st.sampled_from(["utilization", "reset", "status", "surpassed-threshold"]),
        ),
        st.text(max_size=12) | st.sampled_from(["nan", "inf", "-1", "1e400", "0.5", at(hours=1), "rejected"]),
    ),
)
def test_no_header_makes_reading_fail(fields: dict[str, str]) -> None:
    """Whatever the fields hold, each reading says something true to its form."""
    for reading in read(fields):
        assert reading.used is None or 0 <= reading.used < float("inf")
        assert (reading.used, reading.resets_at, reading.status) != (None, None, None)
        if reading.resets_at is not None:
            latest = NOON + reading.window.length + timedelta(minutes=10)
            assert NOON - timedelta(minutes=1) <= reading.resets_at <= latest


def test_a_healthy_account() -> None:
    """The windows of a recorded answer are read, shortest first, and labels make none."""
    session, week = read(dict(sample("200-ok.http")[0].headers))
    assert session == Reading(
        window=window("5h"), used=0.01, resets_at=NOON + timedelta(seconds=9000), status=Status.ALLOWED, sent_at=SENT,
        taken_at=NOON,
    )  # fmt: skip
    assert (week.window.key, week.used) == ("7d", 0.53)


def test_a_model_s_window() -> None:
    """A window of one line is read like any other."""
    last = read(dict(sample("429-fable.http")[0].headers))[-1]
    assert (last.window.key, last.window.line, last.status) == ("7d_oi", "oi", Status.REJECTED)


@pytest.mark.parametrize(
    ("fields", "used", "reset", "status"),
    [
        ({"utilization": "0.6"}, 0.6, None, None),
        ({"utilization": "60"}, 60.0, None, None),
        ({"utilization": "4102444800", "status": "allowed"}, None, None, Status.ALLOWED),
        ({"utilization": "99999999999", "status": "allowed"}, None, None, Status.ALLOWED),
        ({"utilization": "1.05"}, 1.05, None, None),
        ({"utilization": "NaN", "status": "allowed"}, None, None, Status.ALLOWED),
        ({"utilization": "inf", "status": "rejected"}, None, None, Status.REJECTED),
        ({"utilization": "-0.1", "status": "allowed_warning"}, None, None, Status.ALLOWED_WARNING),
        ({"status": " Rejected "}, None, None, Status.REJECTED),
        ({"status": "unheard_of", "reset": at(hours=1)}, None, NOON + HOUR, None),
        ({"reset": at(hours=1) + "000"}, None, NOON + HOUR, None),
        ({"reset": "2026-11-30T13:00:00Z"}, None, NOON + HOUR, None),
        ({"reset": at(hours=6), "utilization": "0.1"}, 0.1, None, None),
    ],
)
def test_fields_of_a_window(fields: dict[str, str], used: float | None, reset: object, status: Status | None) -> None:
    """What cannot be believed counts as not reported, which is not zero (X33, X35)."""
    (reading,) = read({f"{UNIFIED}5h-{name}": text for name, text in fields.items()})
    assert (reading.used, reading.resets_at, reading.status) == (used, reset, status)


def test_what_says_nothing_is_no_reading() -> None:
    """A window of which nothing can be read, a label, and a key that names no span make no readings."""
    assert (
        read(unified(w5h_status="?", overage_status="rejected", fallback_status="allowed", w0h_status="allowed")) == ()
    )
    assert read({"content-type": "text/html"}) == ()


@pytest.mark.parametrize(
    ("text", "key"),
    [("five_hour", "5h"), ("seven_day", "7d"), ("seven_day_opus", "7d_opus"), ("seven_day_overage_included", "7d_oi"),
     ("Seven_Day_Sonnet ", "7d_sonnet"), ("overage", None), ("seven_days", None), ("five_hour_", None), ("", None)],
)  # fmt: skip
def test_claims(text: str, key: str | None) -> None:
    """The deciding window is known by the provider's name for it."""
    claimed = headers.claim(unified(representative_claim=text))
    assert (claimed.key if claimed else None) == key


@pytest.mark.parametrize("key", ["5h", "7d", "7d_opus", "7d_oi"])
def test_claim_names_are_read_back(key: str) -> None:
    """A window's name as a claim means that window."""
    assert headers.claim(unified(representative_claim=headers.claim_name(window(key)))) == window(key)


def test_a_window_without_a_claim_s_name() -> None:
    """A window that no claim ever named keeps its key."""
    assert headers.claim_name(window("30d")) == "30d"


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        ({}, False),
        ({"retry-after": "5", "x-should-retry": "true"}, False),
        ({"anthropic-ratelimit-requests-remaining": "0"}, True),
        ({"anthropic-ratelimit-input-tokens-reset": "x"}, True),
        ({"anthropic-ratelimit-other": "1"}, False),
        (unified(overage_status="rejected"), True),
        ({"Anthropic-RateLimit-Unified-Status": "allowed"}, True),
    ],
)
def test_usage_headers(fields: dict[str, str], has: bool) -> None:
    """An answer tells of use when any unified or classic field is there."""
    assert headers.has_usage(fields) is has


def test_single_fields() -> None:
    """The request's own status, the deciding reset and the retry-after are read with the same care."""
    fields = unified(status="rejected", reset=at(hours=1)) | {"retry-after": "1.5"}
    assert headers.unified_status(fields) is Status.REJECTED
    assert headers.unified_reset(fields, 5 * HOUR, NOON) == NOON + HOUR
    assert headers.unified_reset(fields, timedelta(minutes=10), NOON) is None
    assert headers.retry_after(fields, NOON) == timedelta(seconds=1.5)
    assert headers.unified_status({}) is None
    assert headers.retry_after({}, NOON) is None
