"""Rows 8, 9, 12 and 13 of docs/verdicts.md: answers that tell of a window that ran out."""

from __future__ import annotations

from collections.abc import Callable

from tests.e2e.conftest import Make
from tests.e2e.pool import Pool, about
from tests.upstream import (
    Answer,
    Window,
    claim_only,
    limit,
    ok,
    ok_json,
    overage,
    unified,
)

WEEK, LATE = 7 * 86_400, 600
HOUR = 3600


def _hops(pool: Pool, answer: Answer, *, stream: bool = True, model: str = "claude-opus-5-5") -> None:
    """Fail unless the refusal is invisible: the client gets home's good turn, and home got the same bytes."""
    pool.upstream.script("work", answer)
    reply = pool.ask(request := pool.turn(stream=stream, model=model))
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is home speaking.")
    assert b"rejected" not in reply.head.replace(b"overage-status: rejected", b"")
    pool.saw(request, "work", "home")


# -- row 13 --------------------------------------------------------------------------------------------------------

type Made = Callable[[], Answer]

LIMITS: dict[str, tuple[Made, float]] = {  # account: its refusal, and how many seconds it is held for
    "week": (lambda: limit("7d", resets_in=2 * HOUR), 2 * HOUR),
    "session": (lambda: limit("5h", resets_in=HOUR), HOUR),
    "both-take-the-latest": (lambda: limit("5h", "7d", resets_in={"5h": HOUR, "7d": 5 * HOUR}), 5 * HOUR),
    "shared-before-a-line": (lambda: limit("7d", "7d_opus", resets_in={"7d": HOUR, "7d_opus": 9 * HOUR}), HOUR),
    "milliseconds": (lambda: limit("7d", resets_in=HOUR, unit="ms"), HOUR),
    "iso": (lambda: limit("7d", resets_in=HOUR, unit="iso"), HOUR),
    "claim-alone": (lambda: claim_only("seven_day", resets_in=2 * HOUR), 2 * HOUR),
    "retry-after-alone": (lambda: claim_only("five_hour", resets_in=None, retry_after=900), 900),
    "nothing-said": (lambda: claim_only("five_hour", resets_in=None), 300),
    "too-far": (lambda: limit("5h", resets_in=30 * HOUR, overall=2 * HOUR, retry_after=None), 2 * HOUR),
    "in-the-past": (lambda: limit("5h", resets_in=-HOUR, overall=HOUR), HOUR),
    "nothing-plausible": (lambda: limit("5h", resets_in=30 * HOUR, retry_after=None), 300),
    "weeks-of-retry-after": (lambda: claim_only("five_hour", resets_in=None, retry_after=WEEK), 5 * HOUR + LATE),
}


def test_row_13_a_spent_window_moves_the_turn_on_and_holds_the_account_to_its_reset(make: Make) -> None:
    """A turn that many accounts refuse, each telling its reset another way, is served by the last; each hold is right."""
    pool = make(*LIMITS, "last")
    for name, (answer, _) in LIMITS.items():
        pool.upstream.script(name, answer())
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is last speaking.")
    pool.saw(request, *LIMITS, "last")
    assert pool.holds() == {name: [("account", 13, about(seconds))] for name, (_, seconds) in LIMITS.items()}


def test_row_13_every_account_is_asked_at_most_once_and_held_ones_not_at_all(make: Make) -> None:
    """Three of four refuse one after another; the next conversation goes straight to the fourth."""
    pool = make("work", "home", "third", "fourth")
    for name in ("work", "home", "third"):
        pool.upstream.script(name, limit("7d"))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.text) == (200, "This is fourth speaking.")
    received = pool.saw(request, "work", "home", "third", "fourth")
    assert received[-1].at - received[0].at < 0.75  # no wait is spent on a hop
    tried = pool.logged()["tried"]
    assert [(one["account"], one["row"]) for one in tried] == [("work", 13), ("home", 13), ("third", 13), ("fourth", 8)]
    pool.upstream.reset()
    request = pool.turn(stream=False)
    assert pool.ask(request).text == "This is fourth speaking."
    pool.saw(request, "fourth")
    assert set(pool.holds()) == {"work", "home", "third"}


# -- row 12 --------------------------------------------------------------------------------------------------------

LINES: list[tuple[str, str, Made, float]] = [
    ("opus", "claude-opus-5-5", lambda: limit("7d_opus", resets_in=2 * HOUR), 2 * HOUR),
    ("sonnet", "claude-sonnet-5", lambda: limit("7d_sonnet", resets_in=HOUR), HOUR),
    (
        "mythos",
        "claude-mythos-1",
        lambda: claim_only("seven_day_overage_included", resets_in=None, retry_after=700),
        700,
    ),
    ("fable", "claude-fable-5", lambda: limit("7d_oi", resets_in=3 * HOUR), 3 * HOUR),
    ("haiku", "claude-haiku-5", lambda: claim_only("seven_day_haiku", resets_in=HOUR), HOUR),
    ("claude-next", "claude-next", lambda: limit("7d_x", resets_in={"7d_x": 9 * 24 * HOUR}, retry_after=None), 300),
]


def test_row_12_a_spent_line_window_holds_the_account_for_that_family_alone(make: Make) -> None:
    """One account refuses five families one by one; each moves on, and each is held for itself until its own reset."""
    pool = make("work", "home")
    for _, model, answer, _ in LINES:
        pool.upstream.reset()
        _hops(pool, answer(), model=model)
    found = {(scope, row): left for scope, row, left in pool.holds()["work"]}
    assert found == {(family, 12): about(seconds, 12) for family, _, _, seconds in LINES}
    assert pool.proxy.account("home")["holds"] == []


def test_row_12_another_family_is_still_served_by_the_account(make: Make) -> None:
    """While opus is held on work, sonnet goes to work as before."""
    pool = make("work", "home")
    _hops(pool, limit("7d_opus"))
    pool.upstream.reset()
    request = pool.turn(model="claude-sonnet-5")
    assert pool.ask(request).text == "This is work speaking."
    pool.saw(request, "work")
    assert pool.holds() == {"work": [("opus", 12, about(HOUR))]}


# -- row 8 ---------------------------------------------------------------------------------------------------------


def test_row_8_an_answer_that_shows_the_window_open_lifts_a_line_hold(make: Make) -> None:
    """A later sonnet answer whose headers show 7d_opus with room ends the hold of opus, one that shows nothing does not."""
    pool = make("work", "home")
    _hops(pool, limit("7d_opus"))
    pool.ask(pool.turn(model="claude-sonnet-5"))
    assert pool.holds() == {"work": [("opus", 12, about(HOUR))]}
    windows = Window(key="5h"), Window(key="7d"), Window(key="7d_opus", used=0.3)
    pool.upstream.script("work", ok("open", headers=unified(*windows)))
    assert pool.ask(pool.turn(model="claude-sonnet-5")).text == "open"
    assert pool.holds() == {}
    pool.upstream.reset()
    pool.ask(request := pool.turn())
    pool.saw(request, "work")


def test_row_8_a_request_sent_before_the_hold_does_not_lift_it(make: Make) -> None:
    """An answer that was under way when the hold was set says nothing about it, however good its headers look."""
    pool = make("work", "home")
    windows = Window(key="5h"), Window(key="7d"), Window(key="7d_opus", used=0.3)
    pool.upstream.script("work", ok("late", headers=unified(*windows)).late("sent"))
    with pool.client() as client:
        client.send(pool.turn(model="claude-sonnet-5"))
        pool.upstream.requests.wait_for(1, "work")
        pool.upstream.script("work", limit("7d_opus"))
        assert pool.ask(pool.turn()).text == "This is home speaking."
        pool.upstream.release("sent")
        assert client.begin().rest().text == "late"
    assert pool.holds() == {"work": [("opus", 12, about(HOUR))]}


# -- row 9 ---------------------------------------------------------------------------------------------------------


def test_row_9_paid_overage_is_closed_unread_where_another_account_may_serve(make: Make) -> None:
    """The paid answer is given up at its head, the turn goes to the next account, and the first is held."""
    pool = make("work", "home", "third")
    pool.upstream.script("work", overage(ok(), resets_in=HOUR).slow_start("never"))
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is home speaking.")
    received = pool.saw(request, "work", "home")
    assert received[0].fate.wait() == "left"
    assert pool.holds() == {"work": [("account", 9, about(HOUR))]}
    pool.upstream.reset()
    pool.upstream.script("home", overage(ok_json(), resets_in=HOUR))
    reply = pool.ask(request := pool.turn(stream=False))
    assert (reply.status, reply.end, reply.text) == (200, "whole", "This is third speaking.")
    pool.saw(request, "home", "third")
    assert pool.holds() == {name: [("account", 9, about(HOUR))] for name in ("work", "home")}


def test_row_9_the_only_account_streams_its_paid_answer(make: Make) -> None:
    """With one account there is nobody to hop to: the stream passes to the byte, its events as they come."""
    pool = make("work")
    answer = overage(ok("Paid for."), resets_in=HOUR)
    pool.upstream.script("work", answer)
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    pool.saw(request, "work")
    assert pool.holds() == {"work": [("account", 9, about(HOUR))]}
    refused = pool.ask(pool.turn())
    assert (refused.status, refused.error[0]) == (429, "rate_limit_error")
    assert len(pool.upstream.requests) == 1


def test_row_9_overage_may_be_allowed(make: Make) -> None:
    """With [routing] overage = "allow" a paid answer is an answer: streamed, and nothing is held."""
    pool = make("work", "home", settings={"routing": {"overage": "allow"}})
    answer = overage(ok("Paid for."))
    pool.upstream.script("work", answer)
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", answer.body)
    pool.saw(request, "work")
    assert pool.holds() == {}


def test_row_9_the_last_of_several_paid_answers_is_streamed(make: Make) -> None:
    """Where every account serves for pay only, the last one asked is not thrown away as well."""
    pool = make("work", "home")
    paid = overage(ok("Paid for."), resets_in=HOUR)
    pool.upstream.script("work", overage(ok("Given up."), resets_in=HOUR))
    pool.upstream.script("home", paid)
    reply = pool.ask(request := pool.turn())
    assert (reply.status, reply.end, reply.body) == (200, "whole", paid.body)
    pool.saw(request, "work", "home")
    assert pool.holds() == {name: [("account", 9, about(HOUR))] for name in ("work", "home")}
