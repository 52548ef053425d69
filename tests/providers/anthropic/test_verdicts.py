"""The table of verdicts, line by line, and against its document.

Longer than other files, because one table of all rows reads better than several.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.anthropic.verdicts import EVENT_ROWS, OTHER_EVENT_ROW, ROWS, classify
from providers.contract import Answer
from routing.relogin import MOST_RENEWALS, Renewal, relogin
from routing.rules import Overage, Routing, Rules
from routing.verdicts import AuthLadder, HoldOrder, Hop, Left, SoonestReset, Verdict
from routing.words import Demand, Family
from tests.providers.samples import NOON, OPUS, RULES, at, error, sample, unified

ALLOWED = Rules(routing=Routing(overage=Overage.ALLOW))
STARTUP = Demand(provider="anthropic", model="claude-opus-5-5", family=Family("opus"), side=True, startup=True)
COUNT = Demand(provider="anthropic", model="claude-opus-5-5", family=Family("opus"), side=True)
HOUR, DAY, LATE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=10)
LIMITED = unified(status="rejected", w5h_status="allowed", w7d_status="allowed")


class Case(NamedTuple):
    """One answer and what must follow; a hold is its end, its family and its windows."""

    name: str
    status: int
    headers: dict[str, str]
    body: bytes
    row: int
    hop: Hop = Hop.NO
    left: Left = Left.RELAY
    hold: tuple[object, ...] | None = None
    same: tuple[float, ...] = ()
    demand: Demand = OPUS
    rules: Rules = RULES
    event: bytes | None = None


def until(end: object, family: str | None = None, *windows: str) -> tuple[object, ...]:
    return (end, family, frozenset(windows))


def limit(message: str = "This request would exceed your account's rate limit.", code: str = "") -> bytes:
    return error("rate_limit_error", message, code)


EACH, ONE, NO, OWN = Hop.EACH, Hop.ONE, Hop.NO, Left.OWN
NONE = b""
AUTH = until(AuthLadder())
WEEK_LIMIT = unified(status="rejected", w7d_status="rejected", w7d_reset=at(days=3))
SESSION_LIMIT = unified(status="rejected", w5h_status="rejected", w5h_reset=at(hours=2))
FABLE = Demand(provider="anthropic", model="claude-fable-5-2", family=Family("fable"))
OI = "w7d__oi"

CASES = [
    Case("8 plain", 200, {}, NONE, 8),
    Case("8 allowed", 200, unified(status="allowed", w5h_status="allowed"), NONE, 8),
    Case("8 warning", 200, unified(status="allowed_warning"), NONE, 8),
    Case("8 overage rejected is a label", 200, unified(status="allowed", overage_status="rejected"), NONE, 8),
    Case("8 a window alone rejected", 200, unified(status="allowed", w7d_status="rejected"), NONE, 8),
    Case("8 other 2xx", 204, {}, NONE, 8),
    Case("8 paid, and allowed", 200, WEEK_LIMIT, NONE, 8, rules=ALLOWED),
    Case("9 week", 200, WEEK_LIMIT, NONE, 9, EACH, OWN, until(NOON + 3 * DAY, None, "7d")),
    Case("9 model line", 200, unified(status="rejected", **{OI + "_status": "rejected", OI + "_reset": at(days=2)}), NONE,
         9, EACH, OWN, until(NOON + 2 * DAY, "fable", "7d_oi"), demand=FABLE),
    Case("9 nothing more is known", 200, unified(status="REJECTED "), NONE,
         9, EACH, OWN, until(NOON + timedelta(minutes=5))),
    Case("10 long context", 429, {}, limit("Usage credits are required for long context requests."), 10, ONE),
    Case("10 long context, other words", 429, {}, limit("Extra usage is required for long context requests."), 10, ONE),
    Case("10 before a rejection", 429, WEEK_LIMIT, limit("Usage credits are required for long context requests."), 10, ONE),
    Case("10 fast mode", 429, {}, limit("Usage credits are required for fast mode."), 10),
    Case("10 fast mode, other words", 429, {}, limit("Fast mode is not available"), 10),
    Case("11 credits", 429, {}, limit("Usage credits are required for this model", "credits_required"),
         11, EACH, hold=until(NOON + HOUR, "opus")),
    Case("11 month", 429, {}, limit("", "enforced_spend_limit_reached"),
         11, EACH, hold=until(datetime(2026, 12, 1, tzinfo=UTC))),
    Case("11 before a rejection", 429, WEEK_LIMIT, limit("", "credits_required"), 11, EACH, hold=until(NOON + HOUR, "opus")),
    Case("12 fable", 429, LIMITED | unified(**{OI + "_status": "rejected", OI + "_reset": at(days=4)}), limit(),
         12, EACH, OWN, until(NOON + 4 * DAY, "fable", "7d_oi"), demand=FABLE),
    Case("12 the asked family is held", 429, LIMITED | unified(**{OI + "_status": "rejected", OI + "_reset": at(days=4)}),
         limit(), 12, EACH, OWN, until(NOON + 4 * DAY, "opus", "7d_oi")),
    Case("12 the latest of two", 429, LIMITED | unified(
            **{OI + "_status": "rejected", OI + "_reset": at(days=1),
               "w7d__opus_status": "rejected", "w7d__opus_reset": at(days=2)}), limit(),
         12, EACH, OWN, until(NOON + 2 * DAY, "opus", "7d_oi", "7d_opus")),
    Case("12 claimed only", 429, LIMITED | unified(representative_claim="seven_day_opus", reset=at(days=5)), limit(),
         12, EACH, OWN, until(NOON + 5 * DAY, "opus", "7d_opus")),
    Case("12 claimed as included", 429, LIMITED | unified(representative_claim="seven_day_overage_included"), limit(),
         12, EACH, OWN, until(NOON + timedelta(minutes=5), "opus", "7d_oi")),
    Case("12 retry-after", 429, LIMITED | unified(representative_claim="seven_day_opus") | {"retry-after": "90"}, limit(),
         12, EACH, OWN, until(NOON + timedelta(seconds=90), "opus", "7d_opus")),
    Case("12 retry-after beyond the window", 429,
         LIMITED | unified(representative_claim="seven_day_opus") | {"retry-after": str(20 * 86400)}, limit(),
         12, EACH, OWN, until(NOON + 7 * DAY + LATE, "opus", "7d_opus")),
    Case("12 status allowed, line rejected", 429, unified(status="allowed", w7d__opus_status="rejected"), limit(),
         12, EACH, OWN, until(NOON + timedelta(minutes=5), "opus", "7d_opus")),
    Case("13 session", 429, SESSION_LIMIT, limit(), 13, EACH, OWN, until(NOON + 2 * HOUR, None, "5h")),
    Case("13 week", 429, WEEK_LIMIT, limit(), 13, EACH, OWN, until(NOON + 3 * DAY, None, "7d")),
    Case("13 both", 429, SESSION_LIMIT | WEEK_LIMIT, limit(), 13, EACH, OWN, until(NOON + 3 * DAY, None, "5h", "7d")),
    Case("13 shared and line", 429, SESSION_LIMIT | unified(w7d__opus_status="rejected", w7d__opus_reset=at(days=6)),
         limit(), 13, EACH, OWN, until(NOON + 2 * HOUR, None, "5h")),
    Case("13 claim and reset only", 429, unified(status="rejected", representative_claim="five_hour", reset=at(hours=1)),
         limit(), 13, EACH, OWN, until(NOON + HOUR, None, "5h")),
    Case("13 the claimed window bounds the reset", 429,
         unified(status="rejected", representative_claim="five_hour", reset=at(days=3)) | {"retry-after": "600"}, limit(),
         13, EACH, OWN, until(NOON + timedelta(seconds=600), None, "5h")),
    Case("13 no claim: a week", 429, unified(status="rejected", reset=at(days=6)), limit(),
         13, EACH, OWN, until(NOON + 6 * DAY)),
    Case("13 implausible reset", 429, unified(status="rejected", w5h_status="rejected", w5h_reset="4102444800"), limit(),
         13, EACH, OWN, until(NOON + timedelta(minutes=5), None, "5h")),
    Case("13 claims overage", 429, unified(status="rejected", representative_claim="overage"), limit(),
         13, EACH, OWN, until(NOON + timedelta(minutes=5))),
    Case("13 a window alone", 429, unified(w5h_status="rejected"), limit(),
         13, EACH, OWN, until(NOON + timedelta(minutes=5), None, "5h")),
    Case("14 no retry-after", 429, unified(status="allowed"), limit(), 14, same=(2, 2)),
    Case("14 short", 429, unified(status="allowed") | {"retry-after": "10"}, limit(), 14, same=(10, 10)),
    Case("14 fraction", 429, unified(status="allowed") | {"retry-after": "1.5"}, limit(), 14, same=(1.5, 1.5)),
    Case("14 junk", 429, unified(status="allowed") | {"retry-after": "NaN"}, limit(), 14, same=(2, 2)),
    Case("14 longer", 429, unified(status="allowed") | {"retry-after": "11"}, limit(),
         14, ONE, hold=until(NOON + timedelta(seconds=11))),
    Case("14 much longer", 429, unified(status="allowed") | {"retry-after": "3600"}, limit(),
         14, ONE, hold=until(NOON + timedelta(seconds=60))),
    Case("14 a date", 429, unified(status="allowed") | {"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, limit(),
         14, ONE, hold=until(NOON + timedelta(seconds=30))),
    Case("14 classic", 429, {"anthropic-ratelimit-requests-remaining": "0", "retry-after": "3"}, limit(), 14, same=(3, 3)),
    Case("14 only overage is rejected", 429, unified(overage_status="rejected"), limit(), 14, same=(2, 2)),
    Case("14 full but not rejected", 429, unified(w5h_utilization="1.0"), limit(), 14, same=(2, 2)),
    Case("15 bare", 429, {}, limit("Error"), 15, ONE),
    Case("15 no body", 429, {"retry-after": "5"}, NONE, 15, ONE),
    Case("15 counting", 429, {}, limit("Error"), 15, ONE, demand=COUNT),
    Case("15 the start-up check", 429, {}, limit("Error"), 15, NO, demand=STARTUP),
    Case("18 expired", 401, {}, error("authentication_error", "OAuth token has expired."), 18, EACH, OWN, AUTH),
    Case("18 any 401", 401, {}, NONE, 18, EACH, OWN, AUTH),
    Case("18 revoked", 403, {}, error("permission_error", "OAuth token has been revoked"), 18, EACH, OWN, AUTH),
    Case("18 organization", 403, {},
         error("permission_error", "OAuth authentication is currently not allowed for this organization."),
         18, EACH, OWN, AUTH),
    Case("18 on hold", 403, {}, error("permission_error", "Your Account is on hold."), 18, EACH, OWN, AUTH),
    Case("18 disabled", 400, {}, error(message="This organization has been disabled."), 18, EACH, OWN, AUTH),
    Case("19 not allowed", 403, {}, error("permission_error", "Request not allowed"),
         19, EACH, OWN, until(NOON + timedelta(minutes=10), "opus")),
    Case("19 a page", 403, {"content-type": "text/html"}, b"<html>token has been revoked</html>",
         19, EACH, OWN, until(NOON + timedelta(minutes=10), "opus")),
    Case("20 402", 402, {}, error("billing_error", "Payment required"), 20, EACH, OWN, until(NOON + DAY)),
    Case("20 balance", 400, {}, error(message="Your credit balance is too low to access the API."),
         20, EACH, hold=until(NOON + DAY)),
    Case("20 extra usage", 400, {}, error(message="You're out of extra usage. Add more at …"),
         20, EACH, hold=until(SoonestReset(otherwise=HOUR))),
    Case("20 workspace limit", 400, {}, error(message="You have reached your specified workspace API usage limits."),
         20, EACH, hold=until(SoonestReset(otherwise=HOUR))),
    Case("20 limit", 400, {}, error(message="You have reached your specified API usage limits."),
         20, EACH, hold=until(SoonestReset(otherwise=HOUR))),
    Case("21 529", 529, {}, NONE, 21, ONE, same=(1, 2)),
    Case("21 overloaded 500", 500, {}, error("overloaded_error"), 21, ONE, same=(1, 2)),
    Case("21 before x-should-retry", 529, {"x-should-retry": "false"}, error("overloaded_error"), 21, ONE, same=(1, 2)),
    Case("22 500", 500, {}, error("api_error"), 22, ONE, same=(1,)),
    Case("22 a page", 502, {}, b"<html>", 22, ONE, same=(1,)),
    Case("22 the edge", 522, {}, NONE, 22, ONE, same=(1,)),
    Case("22 retry allowed", 503, {"x-should-retry": "true"}, NONE, 22, ONE, same=(1,)),
    Case("22 retry forbidden", 500, {"x-should-retry": "False"}, error("api_error"), 22),
    *(Case(f"23 {status}", status, {}, error("invalid_request_error", "no"), 23)
      for status in (302, 400, 404, 405, 408, 409, 413, 415, 422, 451, 600)),
    Case("23 overloaded, but a 400", 400, {}, error("overloaded_error"), 23),
    Case("24 overloaded", 200, {}, NONE, 24, ONE, same=(1, 2), event=error("overloaded_error")),
    Case("24 api", 200, {}, NONE, 24, ONE, same=(1,), event=error("api_error")),
    Case("24 api, retry forbidden", 200, {"x-should-retry": "false"}, NONE, 24, event=error("api_error")),
    Case("24 timeout", 200, {}, NONE, 24, ONE, same=(1,), event=error("timeout_error")),
    Case("24 rate limit", 200, unified(status="allowed", w5h_status="rejected"), NONE, 24, ONE, event=limit()),
    Case("24 rate limit, start-up check", 200, {}, NONE, 24, event=limit(), demand=STARTUP),
    Case("24 authentication", 200, {}, NONE, 24, EACH, hold=AUTH, event=error("authentication_error")),
    Case("24 permission", 200, {}, NONE, 24, EACH, hold=until(NOON + timedelta(minutes=10), "opus"),
         event=error("permission_error", "token has been revoked")),
    Case("24 other", 200, {}, NONE, 24, event=error("invalid_request_error", "credit balance is too low")),
    Case("24 unreadable", 200, {}, NONE, 24, event=b"\xff{"),
    Case("24 paid and allowed", 200, WEEK_LIMIT, NONE, 24, ONE, same=(1, 2), rules=ALLOWED,
         event=error("overloaded_error")),
    Case("9 is asked before 24", 200, WEEK_LIMIT, NONE, 9, EACH, OWN, until(NOON + 3 * DAY, None, "7d"),
         event=error("overloaded_error")),
]  # fmt: skip


def judged(case: Case) -> Verdict:
    answer = Answer(status=case.status, headers=case.headers, body=case.body, error_event=case.event)
    return classify(answer, case.demand, case.rules, NOON)


def shown(hold: HoldOrder | None) -> tuple[object, ...] | None:
    return None if hold is None else (hold.until, hold.family, hold.windows)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_row(case: Case) -> None:
    """Each row and sub-case is told by its signature, and orders what the contract says."""
    verdict = judged(case)
    assert verdict.row == case.row
    assert (verdict.hop, verdict.left) == (case.hop, case.left)
    assert shown(verdict.hold) == case.hold
    assert verdict.same == tuple(timedelta(seconds=wait) for wait in case.same)
    assert verdict.because


@pytest.mark.parametrize(
    ("name", "row", "because"),
    [
        ("200-ok.http", 8, "answered"),
        ("200-overage.http", 9, "paid extra usage: 7d limit until Thu 3 Dec 09:30 UTC"),
        ("429-week.http", 13, "7d limit until Thu 3 Dec 09:30 UTC"),
        ("429-session.http", 13, "5h limit until 14:20 UTC"),
        ("429-fable.http", 12, "7d_oi limit until 02:20 UTC"),
        ("429-throttle.http", 14, "throttled for 240 s"),
        ("429-bare.http", 15, "429 without usage headers: Error"),
        ("429-key.http", 14, "throttled for 5 s"),
        ("401-expired.http", 18, "login refused: OAuth token has expired. Please obtain a new token or refresh"),
        ("502-page.http", 22, "server error (502)"),
        ("529-overloaded.http", 21, "overloaded (529)"),
    ],
)
def test_recorded_answers(name: str, row: int, because: str) -> None:
    """Answers as the service sends them fall under their rows, with a reason that people can read."""
    verdict = classify(sample(name)[0], OPUS, RULES, NOON)
    assert verdict.row == row
    assert verdict.because.startswith(because)


def test_a_short_throttle_brings_its_longer_form() -> None:
    """What stands in when the wait no longer fits is one hop and a hold of the time that was asked."""
    case = Case("", 429, unified(status="allowed") | {"retry-after": "7"}, NONE, 14)
    longer = judged(case).unless_fits
    assert longer is not None
    assert (longer.row, longer.hop, longer.same) == (14, Hop.ONE, ())
    assert shown(longer.hold) == until(NOON + timedelta(seconds=7))
    assert longer.unless_fits is None


def test_settings_rule_every_number() -> None:
    """Each wait and each hold is read from the rules, none is fixed in the table."""
    rules = Rules(
        retry=RULES.retry.__class__(
            server_error=(0.1, 0.2), overloaded=(0.3,), throttle_default_s=0.5, throttle_wait_s=0.7, budget_s=1
        ),
        hold=RULES.hold.__class__(throttle_s=2, unknown_s=3, forbidden_s=4, credits_s=5, balance_s=6),
    )
    by_name = {case.name: case._replace(rules=rules) for case in CASES}
    assert judged(by_name["22 500"]).same == (timedelta(seconds=0.1), timedelta(seconds=0.2))
    assert judged(by_name["21 529"]).same == (timedelta(seconds=0.3),)
    assert judged(by_name["14 no retry-after"]).same == (timedelta(seconds=0.5),) * 2
    ends = {
        "14 fraction": 1.5, "14 longer": 2, "13 claims overage": 3, "19 not allowed": 4, "11 credits": 5, "20 402": 6,
    }  # fmt: skip
    for name, seconds in ends.items():
        hold = judged(by_name[name]).hold
        assert hold is not None
        assert hold.until == NOON + timedelta(seconds=seconds)
    hold = judged(by_name["20 limit"]).hold
    assert hold is not None
    assert hold.until == SoonestReset(otherwise=timedelta(seconds=5))


HEADERS = st.dictionaries(
    st.sampled_from([*unified(status="", reset="", representative_claim="", w5h_status="", w5h_reset="", w7d_status="",
                              w7d_reset="", w7d__oi_status="", w7d__oi_reset="", overage_status=""),
                     "retry-after", "x-should-retry", "content-type", "anthropic-ratelimit-tokens-remaining"]),
    st.sampled_from(["rejected", "allowed", "five_hour", "seven_day_oi", "false", "text/html", at(hours=2), at(days=9), "5"])
    | st.text(max_size=8),
)  # fmt: skip


@given(
    status=st.integers(100, 620) | st.sampled_from([200, 400, 401, 402, 403, 429, 500, 529]),
    headers=HEADERS,
    body=st.binary(max_size=40) | st.sampled_from([error("overloaded_error"), error(message="out of extra usage")]),
    event=st.none() | st.binary(max_size=10),
)
def test_every_answer_has_a_verdict(status: int, headers: dict[str, str], body: bytes, event: bytes | None) -> None:
    """No answer is without a row; only row 8 is no refusal, and no hold outlasts what is plausible."""
    if event is not None:
        status = 200
    verdict = classify(Answer(status=status, headers=headers, body=body, error_event=event), OPUS, RULES, NOON)
    assert 8 <= verdict.row <= 24
    assert verdict.is_refusal == (verdict.row != 8)
    assert verdict.hop is Hop.EACH or verdict.left is Left.RELAY
    if verdict.hold is not None and isinstance(verdict.hold.until, datetime):
        assert verdict.hold.until <= NOON + timedelta(days=32)
    if verdict.same and verdict.row == 14:
        assert verdict.unless_fits is not None


# --- the table against docs/verdicts.md

NOTHING = "\N{EN DASH}"
DOCUMENT = (Path(__file__).parents[3] / "docs" / "verdicts.md").read_text(encoding="utf-8")
COLUMNS = {
    int(cells[1]): tuple(cell.strip() for cell in cells[2:6])
    for line in DOCUMENT.splitlines()
    if (cells := re.split(r"(?<!\\)\|", line)) and len(cells) > 5 and cells[1].strip().isdigit()
}
RELOGIN = {16, 17}  # what routing/relogin.py makes of row 18
JUDGED = [number for number in sorted(COLUMNS) if 8 <= number <= 24 and number not in RELOGIN]


def test_the_document_and_the_table_have_the_same_rows_in_order() -> None:
    """Every row of the document but 16 and 17, which are made of 18, is in the table, in its place."""
    numbers = [row.number for row in ROWS]
    assert numbers == sorted(numbers)
    assert sorted({*numbers, 24}) == JUDGED


@pytest.mark.parametrize("number", [n for n in JUDGED if n != 24])
def test_the_document_and_the_table_agree(number: int) -> None:
    """Where the document says hop, one hop, wait, hold or own answer, the table does so too."""
    signature, hold, then, left = COLUMNS[number]
    lines = [row for row in ROWS if row.number == number]
    hops = {row.hop for row in lines} - {Hop.NO}
    if "one hop" in then:
        assert hops == {Hop.ONE}
    elif re.search(r"\bhop\b", then):
        assert hops == {Hop.EACH}
    else:
        assert not hops
    assert any(row.same for row in lines) == ("wait" in then)
    assert any(row.hold for row in lines) == (hold != NOTHING and not hold.startswith("lifts"))
    assert any(row.left is Left.OWN for row in lines) == ("own answer" in left)
    named = {int(status) for status in re.findall(r"\b[45]\d\d\b", signature)}
    assert named <= {case.status for case in CASES if case.row == number}


@pytest.mark.parametrize(("number", "renewal"), [(16, Renewal.OUTDATED), (17, Renewal.DONE)])
def test_a_refused_login_is_asked_again_as_the_document_says(number: int, renewal: Renewal) -> None:
    """Rows 16 and 17 take what row 18 would, ask the same account at once, and never show the client a 401."""
    case = next(case for case in CASES if case.name == "18 expired")
    verdict = relogin(judged(case), renewal=renewal)
    assert COLUMNS.keys() >= RELOGIN
    assert "same account" in COLUMNS[number][2]
    assert (verdict.row, verdict.same[0], verdict.hold, verdict.left) == (number, timedelta(), None, OWN)
    assert "once per account and exchange" in COLUMNS[17][2]
    assert MOST_RENEWALS == 1


RENEWABLE = {"18 expired", "18 any 401", "18 revoked"}


@pytest.mark.parametrize("case", [case for case in CASES if case.row in {18, 19, 24}], ids=lambda case: case.name)
def test_which_refusals_a_newer_token_may_mend(case: Case) -> None:
    """A 401, and a 403 that says that the token was revoked: nothing else is about the token."""
    assert judged(case).asks_renewal is (case.name in RENEWABLE)


def test_the_numbers_of_the_document_are_the_defaults() -> None:
    """The document's waits and holds are what the rules say when nobody set anything."""
    retry, hold = RULES.retry, RULES.hold
    then = {number: columns[2] for number, columns in COLUMNS.items()}
    held = {number: columns[1] for number, columns in COLUMNS.items()}
    assert [float(s) for s in re.findall(r"([\d.]+) s", then[1])] == list(retry.connect)
    assert [float(s) for s in re.findall(r"([\d.]+) s", then[21])] == list(retry.overloaded)
    assert [float(s) for s in re.findall(r"([\d.]+) s", then[22])] == list(retry.server_error)
    assert f"up to {retry.throttle_wait_s:g} s ({retry.throttle_default_s:g} s if absent)" in then[14]
    assert f"retry-after over {retry.throttle_wait_s:g} s: account, min(retry-after, {hold.throttle_s:g} s)" in held[14]
    assert f"family {hold.credits_s / 3600:g} h" in held[11]
    assert f"else {hold.unknown_s / 60:g} min" in held[12]
    assert f"{hold.auth_s / 60:g} min doubling to {hold.auth_max_s / 3600:g} h" in held[18]
    assert f"family {hold.forbidden_s / 60:g} min" in held[19]
    assert (
        f"402 and balance {hold.balance_s / 3600:g} h; else its soonest known reset, else {hold.credits_s / 3600:g} h"
        in held[20]
    )
    assert f"waits between tries share {retry.budget_s:g} s".lower() in DOCUMENT.lower()


def test_the_types_of_row_24_are_the_document_s() -> None:
    """Each error type of a stream goes to the row that the document names."""
    named = dict(re.findall(r"([\w/]+) (\d+)", COLUMNS[24][1] + " " + COLUMNS[24][2]))
    words = {word: int(row) for words, row in named.items() for word in words.split("/")}
    for kind, row in EVENT_ROWS.items():
        assert words[kind.removesuffix("_error")] == row
    assert words["other"] == OTHER_EVENT_ROW


def test_the_document_stands_alone() -> None:
    """The contract points at nothing outside the project."""
    assert "shared/" not in DOCUMENT
    assert "peers/" not in DOCUMENT
