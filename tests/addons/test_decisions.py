"""Decisions: what is noted of each choice, what is told of it, and what is not."""

import json
import logging
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mitmproxy import http

from addons.decisions import MOST, Decisions, note
from addons.exchange import CLIENT, Exchange, Path
from home.state.stories import Story
from routing.decisions import Answer, Choice, GiveUp, Use, Wait
from routing.explain import Explanation
from routing.rules import Retry, Waiting
from routing.trail import Trail
from routing.verdicts import Verdict, VerdictKind
from routing.words import AccountId, Demand
from tests.addons.made import CLIENT_TOKEN, HEADERS, body, exchange, request, token
from tests.addons.stories import Pool, Turn
from tests.routing.made import NOON, attempt, demand, overloaded, seconds, trail
from tests.upstream import bad_request, limit, ok
from tests.upstream import overloaded as busy

WORK, HOME = AccountId("work"), AccountId("home")


def explained(_demand: Demand, _trail: Trail, now: datetime, *, free: bool) -> Explanation:
    """How nobody stands."""
    return Explanation(at=now, strategy="free" if free else "none", stood=(), barred={}, liked={})


def broken(_demand: Demand, _trail: Trail, _now: datetime, *, free: bool) -> Explanation:
    """A fault of ours."""
    raise RuntimeError(str(free))


def use(account: AccountId = WORK, because: str = "new", *, free: bool = True) -> Use:
    """A request goes to an account."""
    return Use(account=account, because=because, is_free=free)


def wait(account: AccountId | None = None, because: str = "for room", later: float = 1) -> Wait:
    """It pauses."""
    return Wait(until=NOON + seconds(later), account=account, because=because)


def noted(*choices: Choice, so_far: Trail | None = None, account: AccountId | None = None) -> Exchange:
    """An exchange for which these were chosen, one after the other."""
    made = exchange(demand=demand(), account=account)
    made.trail = so_far or trail()
    for choice in choices:
        note(made, choice, NOON, explained)
    return made


# What is noted


def test_a_choice_is_noted_with_what_it_rested_on() -> None:
    """The strategy is asked only where it chose."""
    made = noted(use(), use(HOME, "sticky", free=False), GiveUp(answer=Answer.LIMITED, because="nobody"))

    assert [one.why and one.why.strategy for one in made.choices] == ["free", "none", "none"]


AGAIN: list[tuple[Choice, bool]] = [
    (use(WORK, "again"), True),
    (wait(WORK, "again"), True),
    (use(HOME, "hop"), False),
    (wait(None), False),
    (GiveUp(answer=Answer.RELAY, because="row 21"), False),
]


@pytest.mark.parametrize(("choice", "is_retry"), AGAIN, ids=range(5))
def test_sending_again_to_the_same_account_explains_nothing(choice: Choice, is_retry: bool) -> None:
    """Nobody was weighed."""
    (one,) = noted(choice, so_far=trail(attempt(WORK, overloaded()))).choices

    assert (one.why is None) is is_retry


def test_what_goes_out_on_the_clients_own_credential_explains_nothing() -> None:
    """No account was weighed for it."""
    (one,) = noted(use(CLIENT), account=CLIENT).choices

    assert one.why is None


def test_looking_again_while_it_waits_is_one_choice() -> None:
    """It counts, and its end is the newest one; another reason is another choice."""
    made = noted(*(wait(later=n) for n in range(1, 240)), wait(because="for a limit"), wait())

    assert [(one.choice.because, one.times) for one in made.choices] == [
        ("for room", 239),
        ("for a limit", 1),
        ("for room", 1),
    ]
    assert made.choices[0].choice == wait(later=239)


@given(st.integers(0, 40))
def test_of_many_choices_the_first_and_the_last_are_kept(count: int) -> None:
    """However long a request goes on, in order."""
    kept = [one.choice.because for one in noted(*(use(because=str(n)) for n in range(count))).choices]
    half = MOST // 2

    assert (
        kept == [str(n) for n in range(count)]
        if count <= MOST
        else kept
        == [
            *map(str, range(half)),
            *map(str, range(count - half, count)),
        ]
    )


def test_a_fault_in_explaining_costs_the_request_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The choice stands, and the log says what broke."""
    caplog.set_level(logging.ERROR)
    made = exchange(demand=demand())
    note(made, use(), NOON, broken)

    assert [(one.choice, one.why) for one in made.choices] == [(use(), None)]
    assert "cannot be explained" in caplog.text


# What is told


class Kept:
    """Decisions of a pool, and what they gave on."""

    def __init__(self, pool: Pool, bound: int = 1000) -> None:
        self.stories: list[Story] = []
        self.decisions = Decisions(pool.accounts, self.stories.append, bound)
        self.pool = pool

    def of(self, turn: Turn) -> dict[str, Any]:
        """The story of a turn that ended."""
        self.decisions.ended(self.pool.log.line(turn.flow, turn.exchange), turn.exchange)
        (told,) = self.decisions.find("last", 1)
        assert self.decisions.find(turn.exchange.id, 9) == [told]
        document: dict[str, Any] = json.loads(json.dumps(told))
        return document


def test_a_turn_that_was_moved_is_told_whole() -> None:
    """What was asked, who might serve at each choice, each attempt and how it ended; and nothing that was said, or secret."""
    kept = Kept(Pool("work", "home", "third"))
    asked = request(content=body(messages=[{"role": "user", "content": "a-secret-plan"}]))
    turn = kept.pool.asks(asked).sent_on("work").gets(limit("7d", resets_in=3600)).sent_on("home").streams(ok("a word"))
    told = kept.of(turn)

    assert told["id"] == turn.exchange.id
    assert (told["model"], told["family"], told["stream"], told["side"]) == ("claude-opus-5-5", "opus", True, False)
    assert (told["size"], len(told["conversation"]), told["strategy"]) == (
        len(asked.content or b""),
        8,
        kept.pool.settings.routing.strategy,
    )
    assert [(one["kind"], one["account"], one["times"]) for one in told["choices"]] == [
        ("use", "work", 1),
        ("use", "home", 1),
    ]
    assert [[(its["account"], its["may"], its["order"]) for its in one["accounts"]] for one in told["choices"]] == [
        [("work", True, 1), ("home", True, 2), ("third", True, 3)],
        [("home", True, 1), ("third", True, 2), ("work", False, None)],
    ]
    assert told["choices"][1]["accounts"][2]["row"] == 13
    assert [(one["account"], one["row"], one["verdict"], one["status"]) for one in told["attempts"]] == [
        ("work", 13, "limit", 429),
        ("home", 8, "ok", 200),
    ]
    assert (told["account"], told["ended"], told["answer"], told["heartbeats"]) == ("home", "complete", None, 0)
    assert told["usage"]["output"]
    text = json.dumps(told) + repr(kept.stories)
    assert not [
        word for word in (CLIENT_TOKEN, token("work"), token("home"), "a-secret-plan", "a word") if word in text
    ]
    assert [story.plain() for story in kept.stories] == [told]


def test_sessions_are_known_while_and_after_they_are_asked_for() -> None:
    """Of requests in flight and of those that ended, by both names; a story shows the beginning of its session's."""
    kept = Kept(Pool("work"))
    session = (b"x-claude-code-session-id", b"11111111-2222-4333-8444-555555555555")
    asked = request(headers=(*(one for one in HEADERS if one[0].lower() != session[0]), session))
    turn = kept.pool.asks(asked).sent_on("work")
    demand_of = turn.exchange.demand
    assert demand_of is not None
    names = {demand_of.session, demand_of.conversation}
    assert names <= kept.decisions.sessions()
    told = kept.of(turn.streams(ok("one")))

    assert told["session"] == "11111111-2222"
    assert names <= kept.decisions.sessions()


def test_an_account_is_told_by_one_name() -> None:
    """The one that it had when the request ended, as in all that was taken down of it; whatever it is called later."""
    kept = Kept(Pool("work"))
    told = kept.of(kept.pool.asks().sent_on("work").streams(ok("one")))
    kept.decisions._names["work"] = replace(kept.pool.accounts[WORK], name="renamed")  # type: ignore[index]

    assert kept.decisions.find("last", 1) == [told]
    assert told["choices"][0]["account"] == told["choices"][0]["accounts"][0]["account"] == "work"


def test_a_turn_that_stays_says_where_it_was_warm() -> None:
    """A habit decides it: who else might have served is told without an order."""
    kept = Kept(Pool("work", "home"))
    kept.pool.asks().sent_on("work").streams(ok("one"))
    told = kept.of(kept.pool.asks().sent_on("work", "sticky").streams(ok("two")))

    assert (told["warm"], told["home"]) == ("work", "work")
    assert [(its["account"], its["may"], its["order"]) for its in told["choices"][0]["accounts"]] == [
        ("work", True, None),
        ("home", True, None),
    ]


def test_waits_are_told_with_their_ends() -> None:
    """Between tries and for a recovery, and how long they lasted in all."""
    kept = Kept(Pool("work", retry=Retry(overloaded=(1.0,)), wait=Waiting(max=100)))
    turn = kept.pool.asks().sent_on("work").gets(busy()).pauses(0.5, 1).sent_on("work")
    told = kept.of(turn.gets(limit("7d", resets_in=50)).pauses(45, 51).sent_on("work").gets(bad_request()).relays(400))

    assert [one["kind"] for one in told["choices"]] == ["use", "wait", "use", "wait", "use", "give_up"]
    assert [one["until"] is not None for one in told["choices"]] == [False, True, False, True, False, False]
    assert [one["accounts"] is None for one in told["choices"]] == [False, True, True, False, False, False]
    assert 45_000 < told["waited_ms"] < 53_000
    assert [one["waited_ms"] > 0 for one in told["attempts"]] == [False, True, False]


def test_an_answer_of_our_own_tells_when_somebody_recovers() -> None:
    """The last choice is to give up, and everybody's bar stands beside it."""
    kept = Kept(Pool("work", "home", wait=Waiting(max=0)))
    turn = kept.pool.asks().sent_on("work").gets(limit("7d", resets_in=900)).sent_on("home")
    told = kept.of(turn.gets(limit("7d", resets_in=3600)).relays(429, "A"))
    last = told["choices"][-1]

    assert (last["kind"], last["account"], told["answer"], told["account"]) == ("give_up", None, "A", None)
    assert datetime.fromisoformat(last["until"]) - datetime.fromisoformat(told["at"]) < timedelta(seconds=910)
    assert [its["may"] for its in last["accounts"]] == [False, False]


def test_other_requests_have_no_story() -> None:
    """What passes on another path, or is answered here, was never weighed."""
    kept = Kept(Pool("work"))
    for path in (Path.PASSED, Path.LOCAL):
        kept.decisions.ended({"id": "aa", "at": ""}, exchange(path, demand=demand()))
    kept.decisions.ended({"id": "aa", "at": ""}, exchange())

    assert (kept.stories, kept.decisions.find("last", 9), kept.decisions.find("a", 9)) == ([], [], [])


def test_a_request_in_flight_is_told_as_far_as_it_came() -> None:
    """By its id, and as the last one while none came later."""
    kept = Kept(Pool("work", wait=Waiting(max=100)))
    turn = kept.pool.asks().sent_on("work").gets(limit("7d", resets_in=50))
    (told,) = kept.decisions.find(turn.exchange.id, 9)

    assert (told["ended"], told["status"], told["account"], told["path"]) == ("in_flight", None, None, "/v1/messages")
    assert [one["kind"] for one in told["choices"]] == ["use", "wait"]
    assert kept.decisions.find("last", 1) == [told]
    ended(kept, "aa01")
    assert [found["id"] for found in kept.decisions.find("last", 1)] == ["aa01"]
    turn.breaks()
    kept.decisions.ended(kept.pool.log.line(turn.flow, turn.exchange), turn.exchange)
    assert [found["ended"] for found in kept.decisions.find(turn.exchange.id, 9)] == ["client_left"]


# Which are kept


def ended(kept: Kept, name: str) -> None:
    """A request of this id ended."""
    made = exchange(demand=demand())
    keys = ("at", "path", "status", "answer", "ended", "first_byte_ms", "total_ms", "usage", "account")
    kept.decisions.ended({"id": name, **dict.fromkeys(keys)}, made)


def test_the_latest_are_found_by_their_beginning() -> None:
    """The latest first, never more than asked for."""
    kept = Kept(Pool("work"))
    for name in ("aa01", "ab02", "aa03"):
        ended(kept, name)

    def found(beginning: str, most: int = 9) -> list[str]:
        return [told["id"] for told in kept.decisions.find(beginning, most)]

    assert found("aa") == ["aa03", "aa01"]
    assert found("a", 2) == ["aa03", "ab02"]
    assert found("last", 2) == ["aa03"]
    assert found("b") == []


@given(st.integers(0, 12), st.integers(1, 5))
def test_they_are_bounded(count: int, bound: int) -> None:
    """The oldest goes; all of them were given on."""
    kept = Kept(Pool("work"), bound)
    for number in range(count):
        ended(kept, f"{number:04x}")

    assert len(kept.decisions.find("0", 99)) == min(count, bound)
    assert len(kept.stories) == count


def test_an_account_that_is_gone_is_told_by_its_id() -> None:
    """What is known of it no more is its name."""
    kept = Kept(Pool("work"))
    made = exchange(demand=demand())
    ok_verdict = Verdict(row=8, kind=VerdictKind.OK, because="answered")
    made.trail = trail(attempt("gone", ok_verdict))
    line = {"id": "aa", "at": "", "path": ""}
    kept.decisions.ended(line, made)

    assert kept.decisions.find("aa", 1)[0]["attempts"][0]["account"] == "gone"


def test_a_request_that_is_left_while_it_waits_is_told_as_far_as_it_came() -> None:
    """Its choices are known."""
    kept = Kept(Pool("work", wait=Waiting(max=100)))
    turn = kept.pool.asks().sent_on("work").gets(limit("7d", resets_in=50))
    turn.flow.response = http.Response.make(429)
    told = kept.of(turn.breaks())

    assert told["ended"] == "client_left"
    assert [one["kind"] for one in told["choices"]] == ["use", "wait"]
