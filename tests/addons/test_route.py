"""Routing through the real Router: stories of exchanges, from the first choice to the lease's end.

Longer than 250 lines: all stories of one module stand in its one test file, as tests/test_tree.py wants it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons import exchange
from addons.exchange import CLIENT, EXCHANGES, Pause, Relay
from addons.route import Route
from routing.observations import AccountsChanged, Pinned
from routing.relogin import Renewal
from routing.rules import Retry, Waiting
from routing.spent import FRESH, OUTPUT, READ, WRITE
from routing.transport import Failure
from routing.words import Account, AccountId, Kind, Reserves
from tests.addons.made import HEADERS, body, flow, request
from tests.addons.stories import Pool, Turn
from tests.upstream import (
    bad_request,
    bad_token,
    forbidden,
    limit,
    ok,
    ok_json,
    org_not_allowed,
    overage,
    overloaded,
    revoked,
    server_error,
    stream_error,
    throttle,
)
from tests.upstream.answer import Answer
from tests.upstream.limits import healthy

WAITLESS = Waiting(max=0)
NO_RETRY = Retry(overloaded=(), server_error=(), connect=())


def side() -> Turn:
    """A side call of a pool of two."""
    return Pool("work", "home", wait=WAITLESS).asks(request(path="/v1/messages/count_tokens"))


# What is served

ENDS = st.lists(st.sampled_from(["response", "error"]), min_size=1, max_size=4)


@given(st.lists(ENDS, min_size=1, max_size=3))
def test_a_lease_ends_once(turns: list[list[str]]) -> None:
    """However the end is reported, and however often, each request is in flight until its first end and no longer."""
    pool = Pool("work")
    open_turns = [pool.asks().sent_on("work").begins(ok("x")) for _ in turns]

    for done, (turn, ends) in enumerate(zip(open_turns, turns, strict=True)):
        assert pool.account("work").in_flight == len(turns) - done
        for end in ends:
            turn.responds() if end == "response" else turn.breaks()
        assert pool.account("work").in_flight == len(turns) - done - 1
        assert len(turn.exchange.trail.attempts) == 1
    assert pool.account("work").requests == len(turns)


def test_what_waited_when_the_last_account_went_says_so() -> None:
    """It goes out on the client's own credential, which was never a choice among accounts."""
    pool = Pool("work", wait=Waiting(max=100))
    turn = pool.asks().sent_on("work").gets(limit("5h", resets_in=50))
    assert isinstance(turn.exchange.step, Pause)
    pool.accounts.clear()
    client = Account(id=CLIENT, name=CLIENT, provider="anthropic", kind=Kind.OAUTH)
    pool.router.observe(AccountsChanged(accounts=(client,)))

    turn.chooses().sent_on(CLIENT, "the client's own credential, for all accounts were removed while it waited")


def test_a_good_stream_makes_the_conversation_stick() -> None:
    """A stream that reached its end counts as row 8, ends the lease, and keeps its conversation on the account."""
    pool = Pool("work", "home")
    pool.asks().sent_on("work").gets(limit("7d", resets_in=3600)).sent_on("home").streams(ok("hello"))

    assert pool.account("home").in_flight == 0
    pool.asks().sent_on("home", "sticky")


def test_a_good_json_answer_is_relayed() -> None:
    """A whole JSON answer is judged, relayed and counts as a success."""
    turn = Pool("work").asks().sent_on("work").gets(ok_json("hello")).relays(200)

    assert turn.exchange.is_complete
    assert turn.rows == [("work", 8)]


def test_a_cut_stream_does_not_stick() -> None:
    """What the client did not get whole is no success."""
    pool = Pool("work")
    pool.asks().sent_on("work").streams(ok("one two").cut("whole", after="content_block_delta"))

    assert "sticky" not in pool.asks().exchange.because


def test_a_refusal_hops_before_the_client_sees_a_byte() -> None:
    """Refused on one account, the same request goes to the next; the first is on hold and told why."""
    pool = Pool("work", "home")
    turn = pool.asks().sent_on("work").gets(limit("7d")).sent_on("home", "hop: work refused").streams(ok("x"))

    assert turn.rows == [("work", 13), ("home", 8)]
    assert (pool.holds("work"), pool.holds("home")) == ([("account", 13)], [])


def test_each_account_is_asked_once_then_the_limit_is_told() -> None:
    """Own answer A: when all are refused and none recovers in time, the client gets a 429 that says when."""
    pool = Pool("work", "home", wait=WAITLESS)
    turn = pool.asks().sent_on("work").gets(limit("7d")).sent_on("home").gets(limit("5h", resets_in=600))

    turn.relays(429, "A")
    assert turn.flow.response is not None
    assert turn.flow.response.headers["anthropic-ratelimit-unified-representative-claim"] == "five_hour"
    assert [pool.account(name).in_flight for name in ("work", "home")] == [0, 0]


def test_a_soon_recovery_is_waited_for() -> None:
    """A refused request pauses until the account recovers, then every account may be asked again."""
    pool = Pool("work")
    turn = pool.asks().sent_on("work").gets(limit("5h", resets_in=30)).pauses(25, 32).sent_on("work").streams(ok("x"))

    assert turn.rows == [("work", 13), ("work", 8)]
    assert turn.exchange.trail.renewed_at == 1


def test_a_waiting_request_is_served_as_soon_as_somebody_may() -> None:
    """Woken because an account came back, it goes there at once; the clock has not jumped to the end of the wait."""
    pool = Pool("work", "home")
    held = replace(pool.accounts[AccountId("home")], enabled=False)
    pool.router.observe(AccountsChanged(accounts=(pool.accounts[AccountId("work")], held)))
    turn = pool.asks().sent_on("work").gets(limit("5h", resets_in=30))
    pool.router.observe(AccountsChanged(accounts=tuple(pool.accounts.values())))

    turn.pauses(25, 32, woken=True).sent_on("home").streams(ok("x"))
    assert turn.rows == [("work", 13), ("home", 8)]
    assert turn.exchange.floor is None


def test_a_request_that_is_woken_for_nothing_waits_on() -> None:
    """Nothing has changed for it: the wait goes on to the same end, and no account is asked."""
    turn = Pool("work").asks().sent_on("work").gets(limit("5h", resets_in=30))

    turn.pauses(25, 32, woken=True).pauses(25, 32).sent_on("work").streams(ok("x"))
    assert turn.rows == [("work", 13), ("work", 8)]


def test_who_is_woken_from_a_wait_for_room_waits_for_a_recovery_to_its_end() -> None:
    """A look at who has room is a second away, and says nothing of the recovery."""
    pool = Pool("work", "home")
    first, second = (pool.asks(talk(number)).sent_on("work") for number in (1, 2))
    first.gets(limit("5h", resets_in=30)).sent_on("home")
    second.gets(limit("5h", resets_in=30))
    first.gets(limit("5h", resets_in=30))

    second.pauses(0, 1, "others are moving there", woken=True).pauses(25, 32).sent_on("work")


def test_a_recovery_that_is_put_off_meanwhile_is_waited_for() -> None:
    """The wait that was woken ends where it would have; the clock jumps no further, and the hold stands."""
    pool = Pool("work")
    first, second = (pool.asks(talk(number)).sent_on("work") for number in (1, 2))
    first.gets(limit("5h", resets_in=30))
    second.gets(limit("5h", resets_in=90))

    first.pauses(25, 32, woken=True).pauses(25, 32).pauses(55, 62).sent_on("work")


def test_a_proxy_that_ends_lets_nobody_wait_for_a_recovery() -> None:
    """Own answer I, to those who wait by then and to those who would; it is the proxy's, and no account's."""
    pool = Pool("work")
    waits = pool.asks().sent_on("work").gets(limit("5h", resets_in=30))
    pool.route.turn_away()
    for turn in (waits.pauses(25, 32, woken=True), pool.asks()):
        turn.relays(503, "I")
        assert turn.flow.response is not None
        assert "x-should-retry" not in turn.flow.response.headers
        assert turn.exchange.served is None
    assert pool.account("work").in_flight == 0


def test_a_proxy_that_ends_still_tries_again_what_it_has_in_flight() -> None:
    """A short wait between two tries is part of answering."""
    pool = Pool("work", "home")
    pool.route.turn_away()
    turn = pool.asks().sent_on("work").gets(throttle(3)).pauses(2.5, 3, "again").sent_on("work").streams(ok("x"))

    assert turn.rows == [("work", 14), ("work", 8)]


def test_a_short_throttle_waits_on_the_same_account() -> None:
    """Row 14: the same account is asked again after its retry-after, and the wait is charged to the budget."""
    pool = Pool("work", "home")
    turn = pool.asks().sent_on("work").gets(throttle(3)).pauses(2.5, 3, "again").sent_on("work").streams(ok("x"))

    assert turn.rows == [("work", 14), ("work", 8)]
    assert 2.5 <= turn.exchange.trail.waited.total_seconds() <= 3
    assert pool.holds("work") == []


def test_overload_waits_twice_then_hops_once() -> None:
    """Row 21: two waits on each of two accounts, six requests in all, then the last answer is relayed."""
    pool = Pool("work", "home", "third")
    turn = pool.asks()
    for name in ("work", "home"):
        turn.sent_on(name).gets(overloaded()).pauses(0.9, 1).sent_on(name).gets(overloaded()).pauses(1.9, 2)
        turn.sent_on(name).gets(overloaded())

    turn.relays(529)
    assert turn.rows == [("work", 21)] * 3 + [("home", 21)] * 3


def test_a_fault_of_the_request_is_relayed_unchanged() -> None:
    """Row 23: nobody else is asked, and the answer is the upstream's own."""
    answer = bad_request()
    turn = Pool("work", "home").asks().sent_on("work").gets(answer).relays(400)

    assert turn.flow.response is not None
    assert turn.flow.response.content == answer.body
    assert turn.flow.response.headers["request-id"] == answer.header("request-id")


# Giving up


def test_when_every_login_is_refused_the_client_is_told() -> None:
    """Own answer B: a 502 that keeps the client's own login alone."""
    pool = Pool("work", "home")
    turn = pool.asks().sent_on("work").gets(bad_token()).sent_on("home").gets(bad_token()).relays(502, "B")

    assert turn.flow.response is not None
    assert turn.flow.response.headers["x-should-retry"] == "false"
    assert pool.account("work").state == "auth_dead"


def test_when_none_is_enabled_the_client_is_told() -> None:
    """Own answer C: accounts that are all switched off make a 503 before anything is sent."""
    turn = Pool("work", enabled=False).asks().relays(503, "C")

    assert turn.rows == []


def test_the_earlier_answer_is_relayed_when_the_last_was_about_a_login() -> None:
    """Where neither A nor B fits, the last answer that was not of rows 18 and 19 is what the client gets."""
    pool = Pool("work", "home", retry=NO_RETRY)
    first = overloaded()
    turn = pool.asks().sent_on("work").gets(first).sent_on("home").gets(forbidden()).relays(529)

    assert turn.flow.response is not None
    assert turn.flow.response.content == first.body


def test_the_earlier_answer_may_have_been_a_failure() -> None:
    """An earlier attempt without an answer counts as one: its 502 is relayed."""
    pool = Pool("work", "home", replay=replace(Pool().settings.replay, ambiguous=True))
    turn = pool.asks().sent_on("work").fails(Failure.BROKEN, "reset").sent_on("home").gets(bad_token())

    turn.relays(502)
    assert "reset" in turn.error[2]


def test_the_earlier_answer_may_have_been_a_streams_error() -> None:
    """A stream that began with an error, then a refused login: the client gets an overload in the vendor's shape."""
    pool = Pool("work", "home", retry=NO_RETRY)
    turn = pool.asks().sent_on("work").gets(stream_error()).sent_on("home").gets(forbidden())

    turn.relays(529)
    assert turn.error[1] == "overloaded_error"


def test_a_stream_that_began_with_an_error_is_taken_when_nobody_is_left() -> None:
    """Row 24: when nothing else may be tried, the stream goes to the client as it came."""
    Pool("work", retry=NO_RETRY).asks().sent_on("work").gets(stream_error()).resumes()


def test_a_stream_that_was_given_up_for_a_pause_is_not_relayed_empty() -> None:
    """When the account is held during the pause after a stream's error, the client gets an error, not an empty 200."""
    pool = Pool("work")
    turn = pool.asks().sent_on("work").gets(stream_error())
    assert isinstance(turn.exchange.step, Pause)
    pool.asks().sent_on("work").gets(limit("7d", resets_in=90_000)).relays(429, "A")

    turn.chooses()
    assert turn.flow.response is not None
    assert turn.flow.response.status_code >= 400


def test_paid_overage_is_taken_when_nobody_else_may_serve() -> None:
    """Row 9: what was served for pay is left unread while another account may serve, else taken."""
    pool = Pool("work", "home")
    turn = pool.asks().sent_on("work").gets(overage(ok("x"))).sent_on("home").gets(overage(ok("y"))).resumes()

    turn.passes(ok("y"))
    assert turn.rows[0] == ("work", 9)
    assert (pool.holds("work"), pool.holds("home")) == ([("account", 9)], [("account", 9)])


def test_a_paid_answer_is_gone_after_a_wait_for_room() -> None:
    """Its connection was closed: own answer A, and not the head that is left of it."""
    pool = Pool("work", "home")
    first, second = (pool.asks(talk(number)).sent_on("work") for number in (1, 2))
    first.gets(overage(ok("x"))).sent_on("home")
    second.gets(overage(ok("y")))
    first.gets(limit("5h", resets_in=9000))

    second.pauses(0, 1, "others are moving there", woken=True).relays(429, "A")
    assert second.rows == [("work", 9)]


def test_a_2xx_that_is_no_answer_is_told_to_the_client() -> None:
    """A 2xx that is neither JSON nor an event stream makes a 502, blames nobody and asks nobody else."""
    pool = Pool("work", "home")
    answer = ok_json("x").having(("content-type", "text/html"))
    turn = pool.asks().sent_on("work").gets(answer).relays(502)

    assert turn.error[1] == "api_error"
    assert pool.holds("work") == []


@pytest.mark.parametrize(
    ("failure", "timed_out", "status", "kind"),
    [
        (Failure.BROKEN, False, 502, "api_error"),
        (Failure.BROKEN, True, 504, "timeout_error"),
        (Failure.EMPTY_STREAM, False, 529, "overloaded_error"),
    ],
)
def test_a_post_that_broke_is_not_sent_again(failure: Failure, timed_out: bool, status: int, kind: str) -> None:
    """Rows 3 and 4: it cannot be told whether the provider began to work, so the client decides."""
    turn = Pool("work", "home").asks().sent_on("work").fails(failure, timed_out=timed_out).relays(status)

    assert turn.error[1] == kind
    assert turn.exchange.verdict is not None
    assert turn.rows == [("work", failure.value)]


def test_an_unreachable_upstream_is_dialled_three_times() -> None:
    """Row 1: nothing was sent, so the same account is asked after a quarter second and after a second."""
    turn = Pool("work").asks().sent_on("work").fails(Failure.UNREACHABLE).pauses(0.2, 0.25)
    turn.sent_on("work").fails(Failure.UNREACHABLE).pauses(0.9, 1).sent_on("work").fails(Failure.UNREACHABLE)

    turn.relays(502)


# Accounts without a secret


def test_an_account_without_a_secret_is_passed_over() -> None:
    """No request is sent on an account whose secret cannot be read; it stands like one whose login was refused."""
    pool = Pool("work", "home", without=["work"])
    turn = pool.asks().sent_on("home").streams(ok("x"))

    assert (turn.rows, pool.holds("work")) == ([("home", 8)], [("account", 18)])
    assert (pool.account("work").requests, pool.account("work").because) == (0, "no readable secret is stored")


def test_without_any_secret_the_client_is_told() -> None:
    """Own answer B when no account's secret is at hand."""
    pool = Pool("work", "home", without=["work", "home"])

    turn = pool.asks().relays(502, "B")
    assert (turn.rows, turn.line["account"]) == ([], None)
    assert "work: no readable secret is stored" in turn.error[2]
    assert "flowpool login work" in turn.error[2]
    assert [pool.account(name).in_flight for name in ("work", "home")] == [0, 0]


# Side calls


def test_a_side_call_takes_no_lease_and_sets_no_hold() -> None:
    """A refused count of tokens hops at once and leaves no trace on the account."""
    turn = side().sent_on("work")
    assert turn.pool.account("work").in_flight == 0

    turn.gets(limit("7d")).sent_on("home").gets(ok_json("x")).relays(200)
    assert turn.pool.holds("work") == []


@pytest.mark.parametrize("refusal", [throttle(2), overloaded(), server_error()])
def test_a_side_call_never_waits(refusal: object) -> None:
    """Where a turn would wait, a side call hops."""
    side().sent_on("work").gets(refusal).sent_on("home").gets(ok_json("x")).relays(200)  # type: ignore[arg-type]


def test_a_side_call_goes_where_a_secret_is() -> None:
    """A side call is not sent on an account without a secret either."""
    pool = Pool("work", "home", without=["work"])

    pool.asks(request(path="/v1/messages/count_tokens")).sent_on("home").gets(ok_json("x")).relays(200)


# The client's own credential


@pytest.mark.parametrize("answer", [ok_json("x"), bad_token(), limit("7d"), overloaded(), bad_request()])
def test_without_accounts_every_answer_is_the_clients(answer: object) -> None:
    """Own answer G: the client's own login pays, whatever comes is relayed, and its windows are read."""
    pool = Pool()
    turn = pool.asks().sent_on("client").begins(answer)  # type: ignore[arg-type]

    assert (turn.exchange.answer, turn.exchange.course.value) == ("G", "stream")
    turn.responds()
    assert turn.rows[0][0] == "client"
    assert pool.account("client").in_flight == 0


def test_a_get_that_passes_is_sent_once_more() -> None:
    """Row 3 on the client's own credential: a GET that broke is asked again, once; then the client is told."""
    turn = Pool("work").asks(request("GET", "/v1/models")).sent_on("client", "own credential")
    turn.fails(Failure.BROKEN).sent_on("client", "again").fails(Failure.BROKEN).relays(502)

    assert turn.pool.account("work").requests == 0


def test_a_post_that_passes_is_not_sent_again() -> None:
    """Row 3 on the client's own credential: a POST that broke is answered 502."""
    Pool("work").asks(request("POST", "/api/event")).sent_on("client").fails(Failure.BROKEN).relays(502)


def test_what_passes_is_dialled_again_after_a_wait() -> None:
    """Row 1 on the client's own credential: any method is tried again where nothing was sent."""
    turn = Pool("work").asks(request("POST", "/api/event")).sent_on("client").fails(Failure.UNREACHABLE)

    turn.pauses(0.2, 0.25).sent_on("client", "again").streams(ok("x"))


# Ends and edges


def test_a_client_that_leaves_changes_nothing() -> None:
    """Row 7: the lease ends, holds and sticks stay as they were."""
    pool = Pool("work")
    turn = pool.asks().sent_on("work").breaks()

    assert turn.exchange.client_left
    assert (pool.account("work").in_flight, pool.holds("work"), turn.rows) == (0, [], [("work", 7)])


def test_a_client_that_leaves_a_complete_stream_makes_no_stick() -> None:
    """Who left before the end did not have the answer."""
    pool = Pool("work")
    turn = pool.asks().sent_on("work").begins(ok("x"))
    turn.exchange.is_complete = True
    turn.breaks()

    assert "sticky" not in pool.asks().exchange.because


def test_a_client_that_leaves_a_pause_makes_no_attempt() -> None:
    """Between attempts there is none to end."""
    turn = Pool("work").asks().sent_on("work").gets(limit("5h", resets_in=30)).breaks()

    assert turn.rows == [("work", 13)]
    assert turn.pool.account("work").in_flight == 0


def test_a_request_that_nobody_sorted_is_not_sent() -> None:
    """Without a provider or a demand the answer is 404."""
    turn = Turn.__new__(Turn)
    turn.pool, turn.flow = Pool("work"), flow(request("GET", "/_flowpool/x"))
    turn.pool.admit.requestheaders(turn.flow)
    turn.exchange = EXCHANGES[turn.flow]

    assert turn.chooses().relays(404).exchange.demand is None


def test_a_request_that_was_answered_has_no_demand() -> None:
    """What admission refused, and what it never saw, is not looked into."""
    pool, refused, unseen = Pool("work"), flow(request(headers=[(b"host", b"evil.example")])), flow()
    pool.admit.requestheaders(refused)
    for made in (refused, unseen):
        pool.route.request(made)
        Route.response(pool.route, made)
        pool.route.error(unseen)

    assert EXCHANGES[refused].demand is None
    assert unseen not in EXCHANGES


def test_a_body_that_cannot_be_read_is_sent_all_the_same() -> None:
    """A body without a model is the provider's to refuse."""
    turn = Pool("work").asks(request(content=b"{")).sent_on("work").gets(bad_request()).relays(400)

    assert turn.exchange.demand is not None
    assert turn.exchange.demand.model == ""


def test_a_key_pays_like_a_login() -> None:
    """An account with an API key is chosen and asked like any other."""
    Pool("key", kind=Kind.API_KEY).asks(request(content=body("claude-haiku-4-5"))).sent_on("key").streams(ok("x"))


# A clock that jumps


class Wall(datetime):
    """A wall clock that somebody sets; no time passes on it by the test's own doing but that."""

    off = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        """The real time, and by how much the clock was set."""
        return cls.fromtimestamp((datetime.now(UTC) + cls.off).timestamp(), tz)


@contextmanager
def wall() -> Iterator[type[Wall]]:
    """The clock of every exchange until the end of the example: what it was set to concerns no later one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "datetime", Wall)
        Wall.off = timedelta()
        yield Wall


JUMPS = st.sampled_from(
    [timedelta(), *(sign * timedelta(seconds=s) for sign in (1, -1) for s in (1, 70, 3600, 86_400 * 40))]
)
REFUSALS = st.sampled_from(
    [limit("5h", resets_in=30), limit("7d"), throttle(5), throttle(40), overloaded(), server_error()]
)


@given(jump=JUMPS)
def test_a_clock_that_is_set_during_a_wait_does_not_stretch_it(jump: timedelta) -> None:
    """The request goes on when its time is over, whatever the clock says by then; the hold has ended for others, too."""
    pool = Pool("work")
    with wall() as clock:
        turn = pool.asks().sent_on("work").gets(limit("5h", resets_in=30))
        clock.off = jump
        turn.pauses(25, 32).sent_on("work").streams(ok("x"))
    assert pool.account("work").in_flight == 0
    pool.asks().sent_on("work").streams(ok("y"))


@given(met=st.lists(st.tuples(JUMPS, REFUSALS), max_size=8))
def test_a_clock_that_jumps_makes_no_endless_and_no_negative_wait(met: list[tuple[timedelta, Answer]]) -> None:
    """Whenever it is set, forward or back: each pause is within its bounds, each exchange ends, and no lease is left."""
    pool, answers = Pool("work", "home"), iter(met)
    with wall() as clock:
        turn = pool.asks()
        for _ in range(200):
            step = turn.exchange.step
            if isinstance(step, Pause):
                turn.pauses(0, pool.settings.wait.max)
            elif isinstance(step, Relay):
                assert turn.flow.response is not None
                turn.responds()
                break
            else:
                turn.flow.response = None
                clock.off, answer = next(answers, (clock.off, None))
                if answer is None:
                    turn.streams(ok("x"))
                    break
                turn.exchange.end = None
                turn.gets(answer)
        else:
            raise AssertionError("this exchange does not end")
    assert [pool.account(name).in_flight for name in ("work", "home")] == [0, 0]


# Logins that end


def test_a_refused_login_is_renewed_and_the_same_account_goes_on() -> None:
    """Row 17: the request waits for the renewal, and is charged for none of it."""
    pool = Pool("work", "home")
    pool.renewals.standing = None
    turn = pool.asks().sent_on("work").gets(bad_token())
    for _ in range(2):
        assert isinstance(turn.exchange.step, Pause)
        turn.chooses()
    pool.renewals.standing, pool.renewals.is_new = Renewal.NONE, True

    turn.chooses().sent_on("work", "its login was renewed")
    pool.renewals.is_new = False
    turn.streams(ok("x"))
    assert turn.rows == [("work", 17), ("work", 8)]
    assert turn.exchange.trail.waited == timedelta()
    assert pool.holds("work") == []


def test_a_token_that_was_replaced_meanwhile_is_no_reason_to_hop() -> None:
    """Row 16: at once, on the same account, with the newer one."""
    pool = Pool("work", "home")
    pool.renewals.is_new = True
    turn = pool.asks().sent_on("work").gets(revoked(401)).sent_on("work", "a newer token is there")
    pool.renewals.is_new = False

    assert turn.streams(ok("x")).rows == [("work", 16), ("work", 8)]


def test_a_login_that_cannot_be_renewed_now_hops() -> None:
    """Row 17 failed: nobody is blamed by this request, which goes to another account."""
    pool = Pool("work", "home")
    pool.renewals.standing = Renewal.FAILED
    turn = pool.asks().sent_on("work").gets(bad_token()).sent_on("home").streams(ok("x"))

    assert turn.rows == [("work", 17), ("home", 8)]
    assert pool.holds("work") == []


def test_what_no_renewal_mends_is_a_dead_login() -> None:
    """Row 18, also for a refusal that no newer token would change."""
    for answer, standing in ((bad_token(), Renewal.NONE), (org_not_allowed(), Renewal.FAILED)):
        pool = Pool("work", "home")
        pool.renewals.standing = standing
        turn = pool.asks().sent_on("work").gets(answer).sent_on("home").streams(ok("x"))

        assert turn.rows == [("work", 18), ("home", 8)]
        assert pool.holds("work") == [("account", 18)]


def test_a_client_that_leaves_while_a_login_is_renewed_ends_its_request() -> None:
    """Its lease ends, and nothing more is sent."""
    pool = Pool("work", "home")
    pool.renewals.standing = None
    turn = pool.asks().sent_on("work").gets(bad_token())
    turn.breaks()

    assert pool.account("work").in_flight == 0
    assert turn.line["ended"] == "client_left"


# Pins, launches, caps


def launched(name: str, **headers: str) -> http.Request:
    """A turn of a client that was launched to use an account."""
    made = request(headers=[*HEADERS, (b"x-flowpool-pin", name.encode())])
    for key, value in headers.items():
        made.headers[key.replace("_", "-")] = value
    return made


def talk(number: int) -> http.Request:
    """A turn of a conversation of its own."""
    return request(content=body(messages=[{"role": "user", "content": f"talk {number}"}]))


def test_a_launch_sends_to_its_account() -> None:
    """Its header goes no further, and the conversation stays there without it."""
    pool = Pool("work", "home")
    turn = pool.asks(launched("home")).sent_on("home", "pinned").streams(ok("x"))

    assert "x-flowpool-pin" not in turn.flow.request.headers
    pool.asks().sent_on("home", "sticky")


def test_a_bad_launch_is_served_like_any_other(caplog: pytest.LogCaptureFixture) -> None:
    """And said once."""
    pool = Pool("work", "home")
    for _ in range(2):
        pool.asks(launched("nobody")).sent_on("work").streams(ok("x"))

    assert len([line for line in caplog.messages if "launched to use the account nobody" in line]) == 1


def test_a_pin_of_all_yields_at_its_limit() -> None:
    """The request goes on elsewhere, and says why."""
    pool = Pool("work", "home")
    pool.router.observe(Pinned(accounts=(AccountId("home"),), at=datetime.now(UTC)))
    turn = pool.asks().sent_on("home", "pinned (all)").gets(limit("7d"))
    turn.sent_on("work", "pin yields: home refused: 7d limit").streams(ok("x"))


def test_the_client_itself_cannot_be_pinned() -> None:
    """Without accounts its own credential goes out, whatever it was launched with."""
    assert Pool().asks(launched("work")).exchange.account == "client"


def capped(cap: int, *names: str, **settings: Any) -> Pool:
    """A pool whose accounts take so many at once."""
    pool = Pool(*names, **settings)
    pool.accounts |= {i: replace(one, cap=cap) for i, one in pool.accounts.items()}
    pool.router.observe(AccountsChanged(accounts=tuple(pool.accounts.values())))
    return pool


def test_over_the_cap_requests_wait_in_turn() -> None:
    """One ends, one goes; who leaves while it waits frees its place in the line."""
    pool = capped(1, "work")
    first = pool.asks(talk(1)).sent_on("work").begins(ok("x"))
    waiting = [pool.asks(talk(number)) for number in (2, 3, 4)]
    for turn in waiting:
        assert isinstance(turn.exchange.step, Pause)
    assert pool.router.snapshot(datetime.now(UTC)).queued == 3
    waiting[0].breaks()
    first.passes(ok("x"))
    waiting[2].pauses(0, 2, "waits for a place on work", woken=True)
    assert isinstance(waiting[2].exchange.step, Pause)
    waiting[1].pauses(0, 2, woken=True).sent_on("work").streams(ok("x"))
    waiting[2].pauses(0, 2, woken=True).sent_on("work").streams(ok("x"))

    assert (pool.account("work").in_flight, pool.router.snapshot(datetime.now(UTC)).queued) == (0, 0)


def test_who_may_not_wait_for_a_place_is_throttled() -> None:
    """No limit was met: a 429 that the client's own retry mends, without what would end its turn."""
    pool = capped(1, "work", wait=WAITLESS)
    pool.asks(talk(1)).sent_on("work").begins(ok("x"))
    turn = pool.asks(talk(2)).relays(429, "A")

    assert turn.flow.response is not None
    assert turn.flow.response.headers["retry-after"] == "5"
    assert not [name for name in turn.flow.response.headers if "ratelimit" in name]
    assert "1 of 1 requests in flight" in turn.error[2]


def test_a_hop_leaves_its_place_to_who_waits() -> None:
    """Refused and gone elsewhere, or pausing for a recovery, it is in flight there no longer."""
    pool = capped(1, "work")
    turn = pool.asks(talk(1)).sent_on("work").gets(limit("5h", resets_in=30))
    assert isinstance(turn.exchange.step, Pause)

    assert pool.account("work").in_flight == 0


def test_a_side_call_passes_the_queue() -> None:
    """Counting tokens takes no place."""
    pool = capped(1, "work")
    pool.asks(talk(1)).sent_on("work").begins(ok("x"))

    pool.asks(request(path="/v1/messages/count_tokens")).sent_on("work")


def test_a_reserve_is_told_as_a_limit_until_its_window_resets() -> None:
    """Own answer A; a launch that is pinned there still goes through, and the upstream got nothing of the other."""
    pool = Pool("work", wait=WAITLESS)
    pool.accounts |= {i: replace(one, reserves=Reserves(session=0.2)) for i, one in pool.accounts.items()}
    pool.router.observe(AccountsChanged(accounts=tuple(pool.accounts.values())))
    answer = ok("x", headers=healthy(0.85, 0.1))
    pool.asks(talk(1)).sent_on("work").streams(answer)
    turn = pool.asks(talk(2)).relays(429, "A")
    assert turn.flow.response is not None
    headers = turn.flow.response.headers
    assert headers["anthropic-ratelimit-unified-status"] == "rejected"
    assert headers["anthropic-ratelimit-unified-representative-claim"] == "five_hour"
    assert int(headers["anthropic-ratelimit-unified-reset"]) > datetime.now(UTC).timestamp()
    assert "work: at its reserve: 5h 85% used, 20% kept for pins" in turn.error[2]

    pool.asks(launched("work", x_claude_code_session_id="mine")).sent_on("work", "pinned")


def test_what_an_answer_used_up_is_told() -> None:
    """So that the Router learns what windows hold: here a tenth of one for each turn."""
    pool = Pool("work")
    for turn in range(3):
        pool.asks().sent_on("work").streams(ok("x", headers=healthy(0.1 * turn)))
    tally = pool.router.remembered().capacities[AccountId("work"), "5h"]

    assert tally.share == pytest.approx(0.2)
    assert tally.cost == pytest.approx(2 * (9_000 * READ + 12 * FRESH + 800 * WRITE + 25 * OUTPUT))


def test_a_wait_for_a_place_is_bounded() -> None:
    """By [wait] max, over all of its looks; then it is a throttle."""
    pool = capped(1, "work", wait=Waiting(max=2.5))
    pool.asks(talk(1)).sent_on("work").begins(ok("x"))

    pool.asks(talk(2)).pauses(0.9, 1).pauses(0.9, 1).relays(429, "A")
