"""What the provider's own account of use is asked, and what its answers mean."""

import json
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from credentials.redaction import MASKED
from credentials.web import LARGEST, Answer
from providers.anthropic import headers, usage
from providers.anthropic.errors import fault_body
from providers.anthropic.usage import Finding, Said, may_ask
from routing.readings import Reading, Source
from routing.words import Kind
from tests.routing.made import NOON, hours, seconds

SECRET = "sk-ant-oat01-PLANTED-in-a-usage-question"
SENT = NOON - seconds(1)
IN_TWO, IN_DAYS = "2026-01-05T14:00:00+00:00", "2026-01-08T12:00:00Z"


def read(document: object) -> tuple[Reading, ...]:
    """The readings of an answer's body."""
    return usage.readings(json.dumps(document).encode(), sent_at=SENT, now=NOON)


def told(document: object) -> dict[str, tuple[float | None, datetime | None]]:
    """By window how much is used and when it resets."""
    return {one.window.key: (one.used, one.resets_at) for one in read(document)}


def found(status: int, body: bytes = b"", **fields: str) -> Finding:
    """What an answer means."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return usage.finding(Answer(status=status, headers=named, body=body), SECRET, sent_at=SENT, now=NOON)


def test_the_question() -> None:
    """A GET as a bearer with the beta of subscriptions; flowpool says who asks, and nothing shows the secret."""
    asked = usage.question("https://a.example", SECRET, "flowpool/1")

    assert (asked.method, asked.url, asked.body) == ("GET", "https://a.example/api/oauth/usage", b"")
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert asked.headers["anthropic-beta"] == "oauth-2025-04-20"
    assert asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"] == "flowpool/1"
    assert SECRET not in repr(asked)


@pytest.mark.parametrize(
    ("kind", "scopes", "may"),
    [
        (Kind.OAUTH, ("user:inference", "user:profile"), True),
        (Kind.OAUTH, "user:inference user:profile", True),
        (Kind.OAUTH, ("user:inference",), False),
        (Kind.OAUTH, "user:inference", False),
        (Kind.OAUTH, None, True),
        (Kind.OAUTH, (), True),
        (Kind.SETUP_TOKEN, None, False),
        (Kind.SETUP_TOKEN, ("user:profile",), False),
        (Kind.API_KEY, None, False),
    ],
)
def test_who_may_ask(kind: Kind, scopes: str | tuple[str, ...] | None, may: bool) -> None:
    """A login of the scope user:profile; of one whose scopes nobody said the answer will tell."""
    assert may_ask(kind, scopes) is may


def test_a_usual_answer() -> None:
    """Percents become fractions, fields that are null say nothing, and each reading says where it came from."""
    document: dict[str, object] = {
        "five_hour": {"utilization": 46.0, "resets_at": IN_TWO},
        "seven_day": {"utilization": 12, "resets_at": IN_DAYS},
        "seven_day_opus": {"utilization": 100, "resets_at": IN_DAYS},
        "seven_day_sonnet": None,
        "seven_day_cowork": {"utilization": 5, "resets_at": IN_DAYS},
        "seven_day_oauth_apps": None,
        "iguana_necktie": {"utilization": 5, "resets_at": IN_DAYS},
        "extra_usage": {"is_enabled": False, "monthly_limit": None, "used_credits": 0, "utilization": 3},
        "spend": {"percent": 2},
        "limits": [],
    }

    assert told(document) == {
        "5h": (0.46, NOON + hours(2)),
        "7d": (0.12, NOON + hours(72)),
        "7d_opus": (1.0, NOON + hours(72)),
    }
    for reading in read(document):
        assert (reading.source, reading.sent_at, reading.taken_at) == (Source.USAGE, SENT, NOON)
        assert reading.status is None


def test_x33_percent_here_and_fraction_there() -> None:
    """0.6 is 0.6 % from the usage endpoint and 60 % from a header: by where it came from, never by its size (X33)."""
    (usage_s,) = read({"five_hour": {"utilization": 0.6, "resets_at": None}})
    assert usage_s.used == pytest.approx(0.006)
    (header,) = headers.readings({"anthropic-ratelimit-unified-5h-utilization": "0.6"}, sent_at=SENT, now=NOON)
    assert header.used == 0.6


def test_x26_a_poll_that_says_two_percent_is_read_as_that() -> None:
    """After a refusal for days, the endpoint's 2 % is 2 % (X26; what it lifts: tests/routing/test_memory.py)."""
    assert told({"seven_day": {"utilization": 2, "resets_at": None}}) == {"7d": (0.02, None)}


def test_model_windows_under_any_name() -> None:
    """Fable's week is 7d_oi as headers call it, whether it has a field of its own or stands in the list alone."""
    scope = {"model": {"id": None, "display_name": "Fable"}, "surface": None}
    listed = {
        "limits": [{"kind": "weekly_scoped", "group": "weekly", "percent": 31, "resets_at": IN_DAYS, "scope": scope}]
    }
    week = {"7d_oi": (0.31, NOON + hours(72))}
    assert told(listed) == week

    for name in ("seven_day_fable", "seven_day_overage_included", "seven_day_oi", "seven_day_mythos"):
        if name != "seven_day_overage_included":
            assert told({name: {"utilization": 31, "resets_at": IN_DAYS}}) == week
    by_id = {
        "kind": "weekly_scoped",
        "percent": 31,
        "resets_at": IN_DAYS,
        "scope": {"model": {"id": "claude-opus-5-5"}},
    }
    assert told({"limits": [by_id]}) == {"7d_opus": (0.31, NOON + hours(72))}


def test_the_list_tells_what_the_fields_do_not() -> None:
    """Shared windows may stand in the list alone; what has a field of its own is told by that."""
    limits = [
        {"kind": "session", "percent": 7, "resets_at": IN_TWO, "scope": None},
        {"kind": "weekly_all", "percent": 8, "resets_at": IN_DAYS, "scope": None},
        {"kind": "monthly", "percent": 9, "resets_at": None},
        {"kind": "weekly_scoped", "percent": 9, "resets_at": None, "scope": None},
        {"kind": "weekly_scoped", "percent": 9, "resets_at": None, "scope": {"model": None, "surface": "cowork"}},
        "nonsense",
    ]

    assert told({"five_hour": None, "limits": limits}) == {
        "5h": (0.07, NOON + hours(2)),
        "7d": (0.08, NOON + hours(72)),
    }
    both = {"five_hour": {"utilization": 10, "resets_at": None}, "limits": limits[:1]}
    assert told(both) == {"5h": (0.1, None)}
    half = {"five_hour": {"utilization": None, "resets_at": IN_TWO}, "limits": limits[:1]}
    assert told(half) == {"5h": (0.07, NOON + hours(2))}


ODD: list[object] = [None, True, False, "46", "", [], {}, -1, 1e300, 10_001, float("nan"), float("inf"), [46]]


@pytest.mark.parametrize("percent", ODD, ids=repr)
def test_what_is_no_percentage_is_not_known(percent: object) -> None:
    """Text, true and NaN are no numbers; unknown is neither 0 nor 100."""
    assert told({"five_hour": {"utilization": percent, "resets_at": IN_TWO}}) == {"5h": (None, NOON + hours(2))}
    assert told({"five_hour": {"utilization": percent, "resets_at": None}}) == {}


@pytest.mark.parametrize(
    "reset", [None, True, 0, [], "", "soon", "2026-01-05", "2026-01-09T12:00:00Z", "2026-01-05T10:00:00Z", {"at": 1}]
)
def test_what_is_no_reset_is_not_known(reset: object) -> None:
    """Absent, odd, long past, or beyond the window's length."""
    assert told({"five_hour": {"utilization": 1, "resets_at": reset}}) == {"5h": (0.01, None)}


@pytest.mark.parametrize("off", [-0.4, -0.16, 0.0, 0.3, 0.49])
def test_a_reset_s_fractions_are_dropped(off: float) -> None:
    """The same reset comes a fraction of a second off each time: it is one to the second, as headers have it."""
    text = (NOON + hours(2) + timedelta(seconds=off)).isoformat()

    assert told({"five_hour": {"utilization": 1, "resets_at": text}}) == {"5h": (0.01, NOON + hours(2))}


def test_what_a_window_of_none_says() -> None:
    """A window that nothing started: 0 % and no reset."""
    assert told({"five_hour": {"utilization": 0, "resets_at": None}}) == {"5h": (0.0, None)}


def test_x39_too_many_calls_are_no_word_on_the_account() -> None:
    """A 429 of the endpoint is its own: no reading, and how long to stay away (X39)."""
    body = fault_body("rate_limit_error", "Rate limited. Please try again later.")

    limited = found(429, body, retry_after="2895")
    assert limited == Finding(
        said=Said.LIMITED,
        retry_after=seconds(2895),
        detail="429 Rate limited. Please try again later.",
    )
    assert found(429).retry_after is None
    assert found(429, body, anthropic_ratelimit_unified_status="rejected").readings == ()


def test_a_403_for_its_scope_closes_the_way_and_no_other_does() -> None:
    """What a setup token gets; an organization that forbids it is another matter."""
    scope = fault_body("permission_error", "OAuth token does not meet scope requirement user:profile")
    other = fault_body("permission_error", "OAuth authentication is currently not allowed for this organization.")

    assert found(403, scope).said is Said.CLOSED
    assert found(403, other).said is Said.NOTHING
    assert found(403).said is Said.NOTHING
    assert found(401, scope).said is Said.NOTHING


@pytest.mark.parametrize("status", [204, 302, 400, 401, 404, 500, 502, 529])
def test_what_is_no_answer_tells_nothing(status: int) -> None:
    """Not even where its body looks like one; one such answer never closes the way for good."""
    body = json.dumps({"five_hour": {"utilization": 46, "resets_at": IN_TWO}}).encode()

    nothing = found(status, body)
    assert (nothing.said, nothing.readings) == (Said.NOTHING, ())
    assert nothing.detail == str(status)


def test_an_answer_without_a_window() -> None:
    """It tells nothing, and says so."""
    for body in (
        b"",
        b"null",
        b"[]",
        b"{}",
        b"<html>",
        json.dumps({"five_hour": None}).encode(),
        b'{"five_hour": {"ut',
    ):
        assert found(200, body) == Finding(said=Said.NOTHING, detail="no window could be read in its answer")


def test_a_detail_never_holds_the_secret() -> None:
    """The vendor may quote it."""
    assert found(401, fault_body("x", f"bad token {SECRET}")).detail == f"401 bad token {MASKED}"


NAMES = st.sampled_from(
    [
        "five_hour",
        "seven_day",
        "seven_day_opus",
        "seven_day_",
        "limits",
        "kind",
        "scope",
        "model",
        "percent",
        "utilization",
        "resets_at",
        "display_name",
        "id",
    ]
)
WORDS = st.sampled_from(["session", "weekly_all", "weekly_scoped", "Fable", IN_TWO, "\ud800", "9999-12-31T23:59:59.9Z"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)


@given(document=st.dictionaries(NAMES, JSON) | JSON, cut=st.integers(0, 30))
def test_anything_may_come(document: object, cut: int) -> None:
    """Whatever stands in it, nothing is raised, and what is read makes sense."""
    body = json.dumps(document).encode()

    for one in usage.readings(body[: len(body) - cut], sent_at=SENT, now=NOON):
        assert one.used is None or 0 <= one.used <= 100
        assert one.resets_at is None or NOON - seconds(60) <= one.resets_at <= NOON + one.window.length + seconds(601)
        assert one.used is not None or one.resets_at is not None


@given(body=st.binary(max_size=200), status=st.integers(100, 599))
def test_any_bytes_may_come(body: bytes, status: int) -> None:
    """Bytes that are no JSON too, deep nesting included."""
    assert isinstance(found(status, body), Finding)
    assert found(200, b"[" * LARGEST).said is Said.NOTHING
