"""routing/choosing.py: what a refusal allows next, and what is left when nobody may be asked."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Answer, Choice, GiveUp, Use, Wait
from routing.observations import (
    AccountsChanged,
    Answered,
    Observation,
)
from routing.readings import Reading
from routing.rules import Rules, Waiting
from routing.verdicts import Verdict
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    EXCHANGE,
    NOON,
    OK,
    account,
    attempt,
    auth,
    demand,
    forbidden,
    limit,
    overloaded,
    paid,
    readings,
    seconds,
    throttle,
    trail,
    verdict,
)
from tests.routing.shell import Shell
from tests.routing.stories import always, answer_of, first, in_flight, pooled

ENDS = [
    ("529 on both: six requests", {"ann": overloaded(), "ben": overloaded()}, "aaabbb", Answer.RELAY),
    ("throttled thrice", {"ann": throttle(1)}, "aaa", Answer.RELAY),
    ("throttled too long for the budget", {"ann": throttle(6)}, "aab", None),
    ("client fault", {"ann": verdict(23)}, "a", Answer.RELAY),
    ("all logins refused", {"ann": auth(), "ben": forbidden()}, "ab", Answer.LOCKED_OUT),
    ("one forbidden, one overloaded", {"ann": forbidden(), "ben": overloaded()}, "abbb", Answer.RELAY),
    ("paid already, nobody else", {"ann": paid(), "ben": paid()}, "ab", Answer.RELAY),
]


@pytest.mark.parametrize(("answers", "order", "answer"), [c[1:] for c in ENDS], ids=[c[0] for c in ENDS])
def test_how_exchanges_end(answers: dict[str, Verdict], order: str, answer: Answer | None) -> None:
    """Who is asked, in which order, and what the client gets."""
    run = pooled(ann=0.2, ben=0.5).play(demand(), always(**answers))

    assert order == "".join(name[0] for name in run.asked)
    assert isinstance(run.end, Use) if answer is None else answer is answer_of(run)


def test_one_overloaded_then_one_forbidden_relays_the_overload() -> None:
    """The last answer that blames no login is what the client sees."""
    shell = pooled(ann=0.2, ben=0.5)

    assert answer_of(shell.play(demand(), always(ann=overloaded(), ben=forbidden()))) is Answer.RELAY_EARLIER


def test_row_19_everywhere_leaves_no_hold() -> None:
    """When every account says 403 the request is to blame: the next one is served."""
    shell = pooled(ann=0.2, ben=0.5)

    assert answer_of(shell.play(demand(), always(ann=forbidden(), ben=forbidden()))) is Answer.LOCKED_OUT
    assert shell.play(demand(), always()).asked == [ANN]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (0.5, Wait(until=NOON + seconds(1), account=ANN, because="again: row 21")),
        (1.0, Use(account=ANN, because="again: row 21")),
        (-30, Wait(until=NOON + seconds(1), account=ANN, because="again: row 21")),
        (-3600, Use(account=ANN, because="again: row 21")),
    ],
)
def test_a_pause_ends_at_its_time(after: float, expected: Choice) -> None:
    """Before its end the answer is to wait, from then on to use; a clock set back far does not stretch it."""
    router = pooled(ann=0.2, ben=0.5).router

    assert expected == router.choose(demand(), trail(attempt("ann", overloaded())), NOON + seconds(after))


def test_without_a_pause_the_same_account_is_used_at_once() -> None:
    """A stale connection is tried again immediately, whatever the clock says."""
    met = trail(attempt("ann", verdict(2, same=(0,)), ended=5))

    assert first(pooled(ann=0.2, ben=0.5), met=met) == Use(account=ANN, because="again: row 2")


CHANGES: list[tuple[str, tuple[Observation, ...], str]] = [
    ("removed", (AccountsChanged(accounts=(account(BEN),)),), "hop: ann was removed"),
    (
        "disabled",
        (AccountsChanged(accounts=(account(ANN, enabled=False), account(BEN))),),
        "hop: ann may no longer serve: disabled",
    ),
    (
        "held",
        (Answered(exchange=EXCHANGE, account=ANN, demand=demand(), verdict=limit(), sent_at=NOON, at=NOON),),
        "hop: ann may no longer serve: row 13",
    ),
]


@pytest.mark.parametrize(("changes", "because"), [c[1:] for c in CHANGES], ids=[c[0] for c in CHANGES])
def test_an_account_that_is_lost_during_a_pause_gets_no_further_attempt(
    changes: tuple[Observation, ...], because: str
) -> None:
    """The request goes on elsewhere, even where the row says no hop; with nobody left it ends as the row says."""
    shell = pooled(ann=0.2, ben=0.5)
    met = trail(attempt("ann", throttle()))
    for change in changes:
        shell.router.observe(change)

    assert first(shell, met=met) == Use(account=BEN, because=because, is_move=True, is_free=True)

    shell.router.observe(AccountsChanged(accounts=(account(BEN, enabled=False),)))
    choice = first(shell, met=met)
    assert isinstance(choice, GiveUp)
    assert choice.answer is Answer.RELAY


def test_relaying_still_says_who_was_passed_over() -> None:
    """The accounts and why, for the log."""
    choice = first(pooled(ann=0.2, ben=0.5), met=trail(attempt("ann", verdict(23))))

    assert isinstance(choice, GiveUp)
    assert [(b.account, b.because) for b in choice.barred] == [(ANN, "row 23"), (BEN, "not tried")]


def test_another_providers_accounts_are_not_asked() -> None:
    """Nor do they count as accounts that could be enabled."""
    shell = Shell(account(ANN, provider="openai"))

    assert answer_of(shell.play(demand(), always())) is Answer.NONE_ENABLED


@given(st.lists(readings, max_size=2))
def test_an_answer_that_was_let_through_is_not_hopped_from(shown: list[Reading]) -> None:
    """A trail that ends in no refusal is a free choice."""
    shell = pooled(ann=0.2, ben=0.5)
    for one in shown:
        shell.router.observe(
            Answered(
                exchange=EXCHANGE, account=CAT, demand=demand(), verdict=OK, sent_at=NOON, at=NOON, readings=(one,)
            )
        )

    assert first(shell, met=trail(attempt("ann", OK))) == first(shell)


@pytest.mark.parametrize(("met", "answer"), [(overloaded(), Answer.RELAY), (limit(), Answer.LIMITED)])
def test_a_hop_that_finds_no_place_and_may_not_wait(met: Verdict, answer: Answer) -> None:
    """The last answer where its row says relay; else it is told as a throttle of ours, with when to come again."""
    pool = (account(ANN), replace(account(BEN), cap=1))
    shell = Shell(*pool, rules=Rules(wait=Waiting(max=0)))
    in_flight(shell, BEN)
    tried = trail(*[attempt("ann", met)] * (3 if met.same else 1))
    choice = first(shell, demand("chat"), tried)

    assert isinstance(choice, GiveUp)
    assert choice.answer is answer
    assert choice.because == (met.because if answer is Answer.RELAY else "1 of 1 requests in flight")
