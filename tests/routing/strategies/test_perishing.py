"""Tests of routing/strategies/perishing.py."""

from dataclasses import dataclass, replace

import pytest

from routing.decisions import Answer, GiveUp, Use
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Succeeded
from routing.readings import Reading, Status
from routing.rules import Routing, Rules
from routing.strategies.alone import Score
from routing.strategies.contract import Candidate, Strategy
from routing.strategies.perishing import Perishing, score
from routing.trail import Trail
from routing.verdicts import Verdict
from routing.words import AccountId
from tests.routing.made import (
    ANN,
    BEN,
    CAT,
    EXCHANGE,
    HAIKU,
    NAMES,
    NOON,
    OK,
    account,
    auth,
    demand,
    forbidden,
    hours,
    limit,
    overloaded,
    reading,
    seconds,
    trail,
    window,
)
from tests.routing.shell import Shell
from tests.routing.strategies.contract import StrategyContract, chosen, free, with_shown

PERISHING = Perishing()


class TestPerishing(StrategyContract):
    """The strategy keeps the contract."""

    strategy: Strategy = PERISHING


def scored(*shown: Reading, reserve: float = 0.0) -> Score | None:
    """The score of an account with these readings and this reserve of its week."""
    held = {window("7d").length: reserve}
    return score(Candidate(account=account(), readings=shown, reserves=held), NOON)


CASES = [
    ("half used, a day left", 0.0, reading(used=0.5, resets=24), 0.0208),
    ("half used, a day left, a tenth reserved", 0.1, reading(used=0.5, resets=24), 0.0167),
    ("half used, five days left", 0.0, reading(used=0.5, resets=120), 0.0042),
    ("nearly used up", 0.0, reading(used=0.95, resets=24), 0.0021),
    ("minutes left count as an hour", 0.0, reading(used=0.5, resets=0.2), 0.5),
    ("the reset has passed", 0.0, reading(used=0.5, resets=-1), 0.00595),
    ("it passes just now", 0.0, reading(used=0.5, resets=0), 0.00595),
    ("a new week, a tenth reserved", 0.1, reading(used=0.5, resets=-1), 0.9 / 168),
    ("nothing was reported before the reset passed", 0.0, reading(used=None, resets=-1), 0.00595),
    ("used beyond the limit", 0.0, reading(used=1.1, resets=24), 0.0),
    ("used less than nothing", 0.0, reading(used=-0.2, resets=24), 1 / 24),
    ("at its reserve", 0.2, reading(used=0.9, resets=24), 0.0),
]


@pytest.mark.parametrize(("reserve", "shown", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_loss_per_hour(reserve: float, shown: Reading, expected: float) -> None:
    """The score is the unused room of the week per hour to its reset."""
    found = scored(shown, reserve=reserve)

    assert found is not None
    assert found.value == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize("shown", [(), (reading("5h", 0.1),), (reading(resets=None),), (reading(used=None),)], ids=str)
def test_no_score_without_a_known_week(shown: tuple[Reading, ...]) -> None:
    """A week whose use or reset is unknown gives no score, and a 5-hour window never does."""
    assert scored(*shown) is None
    assert PERISHING.order(free(with_shown(ANN, *shown))) == {}


def test_the_tightest_week_decides() -> None:
    """Of a shared week and a model line's, the one that loses least per hour is the score; the model was one week only."""
    found = scored(reading("7d", 0.1), reading("7d_opus", 0.9), reading("7d_oi", 0.5))

    assert found is not None
    assert found.window == "7d_opus"


@dataclass(frozen=True, kw_only=True)
class One:
    """An account: what its week loses per hour, and when its 5-hour window is reset, hours after noon; None: not known."""

    loss: float
    session: float | None = None
    used: float = 0.0  # of the 5-hour window
    pressed: bool = False

    def candidate(self, name: AccountId) -> Candidate:
        """Its week has 100 hours to go, but for losses above 0.01, which leave 10."""
        left = 100 if self.loss <= 0.01 else 10
        shown = (reading(used=1 - self.loss * left, resets=left), reading("5h", self.used, resets=self.session))
        return with_shown(name, *shown, pressed=self.pressed)


PICKS = [
    ("the highest score", [One(loss=0.004), One(loss=0.01)], "b"),
    ("near equal from 0.8 on: the sooner 5h", [One(loss=0.01, session=3), One(loss=0.008, session=2)], "b"),
    ("20 % ahead is near equal", [One(loss=0.012, session=3), One(loss=0.010, session=2)], "b"),
    ("25 % ahead is the last near equal", [One(loss=0.0125, session=3), One(loss=0.010, session=2)], "b"),
    ("further ahead the score", [One(loss=0.0127, session=3), One(loss=0.010, session=2)], "a"),
    ("a known 5h before an unknown", [One(loss=0.01), One(loss=0.009, session=4)], "b"),
    ("a known 5h before a passed", [One(loss=0.01, session=-1), One(loss=0.009, session=4)], "b"),
    ("one that passes now is passed", [One(loss=0.01, session=0), One(loss=0.009, session=4)], "b"),
    ("unknown and passed are alike", [One(loss=0.009), One(loss=0.01, session=-1)], "b"),
    ("of equal 5h the score", [One(loss=0.009, session=2), One(loss=0.01, session=2)], "b"),
    ("of equal scores the less used 5h", [One(loss=0.01, session=2, used=0.4), One(loss=0.01, session=2)], "b"),
    ("equal within a billionth", [One(loss=0.01 + 1e-11, used=0.4), One(loss=0.01, used=0.2)], "b"),
    ("a 5h that has reset is empty", [One(loss=0.01, used=0.4), One(loss=0.01, session=-1, used=0.9)], "b"),
    ("two without a loss are near equal", [One(loss=0.0, session=3), One(loss=0.0, session=2)], "b"),
    ("three: only the best makes the band", [One(loss=0.01), One(loss=0.0085), One(loss=0.0075, session=1)], "a"),
    ("under pressure comes last", [One(loss=0.01, pressed=True), One(loss=0.001)], "b"),
    ("unless all are", [One(loss=0.01, pressed=True), One(loss=0.001, pressed=True)], "a"),
    (
        "the band is of those that are not",
        [One(loss=0.1, pressed=True), One(loss=0.01), One(loss=0.008, session=1)],
        "c",
    ),
]


@pytest.mark.parametrize(("among", "expected"), [c[1:] for c in PICKS], ids=[c[0] for c in PICKS])
def test_who_is_picked(among: list[One], expected: str) -> None:
    """The order of a fresh choice; full ties are tossed here instead of going to the first."""
    candidates = [one.candidate(name) for one, name in zip(among, (ANN, BEN, CAT), strict=False)]

    assert chosen(PERISHING, free(*candidates))[0] == expected
    assert chosen(PERISHING, free(*candidates[::-1]))[0] == expected


HOMES = [
    ("19 % ahead keeps", 0.0119, "a"),
    ("20 % ahead leaves", 0.0120, "b"),
    ("equal keeps", 0.01, "a"),
]


@pytest.mark.parametrize(("rival", "expected"), [c[1:] for c in HOMES], ids=[c[0] for c in HOMES])
def test_a_conversations_own_account(rival: float, expected: str) -> None:
    """One whose cache went cold stays unless another's week loses at least 1.2 times as much per hour."""
    among = (One(loss=0.01).candidate(ANN), One(loss=rival, session=1).candidate(BEN))

    assert chosen(PERISHING, free(*among, home=ANN))[0] == expected


def test_an_own_account_is_left_as_a_new_conversation_would_choose() -> None:
    """Once it is left a third may win; one that loses nothing is left for any; one under pressure is no home."""
    third = One(loss=0.0105, session=1).candidate(CAT)
    among = (One(loss=0.01).candidate(ANN), One(loss=0.012).candidate(BEN), third)
    assert chosen(PERISHING, free(*among, home=ANN)) == CAT

    spent = (One(loss=0.0).candidate(ANN), One(loss=0.001).candidate(BEN))
    assert chosen(PERISHING, free(*spent, home=ANN)) == BEN

    pressed = (One(loss=0.01, pressed=True).candidate(ANN), One(loss=0.001).candidate(BEN))
    assert chosen(PERISHING, free(*pressed, home=ANN)) == BEN


def told(*among: One) -> str:
    """The reason of the one that is picked."""
    choice = free(*(one.candidate(name) for one, name in zip(among, (ANN, BEN, CAT), strict=False)))
    return PERISHING.order(choice)[chosen(PERISHING, choice)].because


def test_the_reason_says_what_decided() -> None:
    """The week's loss; the sooner 5h; who is under pressure, where that changed the choice."""
    assert told(One(loss=0.01), One(loss=0.001)) == "7d perishes soonest (0.010/h)"
    assert told(One(loss=0.01), One(loss=0.009, session=1)) == (
        "its 5h resets first, and 7d perishes nearly soonest (0.009/h)"
    )
    assert told(One(loss=0.01), One(loss=0.001, pressed=True)) == "7d perishes soonest (0.010/h)"
    assert told(One(loss=0.01, pressed=True), One(loss=0.001)) == "7d perishes soonest (0.001/h), ann under pressure"
    assert told(One(loss=0.01, pressed=True), One(loss=0.001, pressed=True)) == "7d perishes soonest (0.010/h)"


def test_the_highest_under_pressure_is_named_where_it_only_closed_the_band() -> None:
    """Without it a third is in the band: not who would have been chosen is named, but who is under pressure."""
    among = (One(loss=0.01, pressed=True), One(loss=0.0085, session=3), One(loss=0.0075, session=1))
    assert told(*among).endswith("(0.007/h), ann under pressure")


def test_an_account_without_a_score_is_no_relief() -> None:
    """It comes after one under pressure."""
    unknown = with_shown(BEN, reading("5h", 0.1))

    assert chosen(PERISHING, free(One(loss=0.01, pressed=True).candidate(ANN), unknown)) == ANN


LATEST = [
    ("better by noise", One(loss=0.01), One(loss=0.0101), "a"),
    ("better by more than a point of each", One(loss=0.01), One(loss=0.0112), "b"),
    ("not so near the end, where a point is less", One(loss=0.02), One(loss=0.0215), "a"),
    ("sooner 5h, near by noise alone", One(loss=0.0115), One(loss=0.0093, session=1), "a"),
    ("sooner 5h, surely near", One(loss=0.0099), One(loss=0.0095, session=1), "b"),
    ("later 5h, near by noise alone", One(loss=0.0079, session=1), One(loss=0.01, session=2), "a"),
    ("far from the best", One(loss=0.005, session=1), One(loss=0.01), "b"),
]


@pytest.mark.parametrize(("latest", "other", "expected"), [c[1:] for c in LATEST], ids=[c[0] for c in LATEST])
def test_the_latest_choice_stays_within_noise(latest: One, other: One, expected: str) -> None:
    """Another is chosen only if it comes first even with each reading a point off."""
    among = (latest.candidate(ANN), other.candidate(BEN))

    assert chosen(PERISHING, free(*among, latest=ANN))[0] == expected
    assert chosen(PERISHING, free(*among))[0] in {expected, "b"}


def test_a_busy_latest_choice_does_not_stay() -> None:
    """While a request is in flight there, the readings decide as they are."""
    busy = with_shown(ANN, reading(used=0.5, resets=24), leases=1)

    assert chosen(PERISHING, free(busy, with_shown(BEN, reading(used=0.499, resets=24)), latest=ANN)) == BEN


def test_windows_that_do_not_count_are_not_given() -> None:
    """The shortest window of those given decides a tie; a shorter one of another model line is not among them."""
    one = with_shown(ANN, reading(), reading("5h", 0.3, resets=None))
    other = with_shown(BEN, reading(), reading("1h", 0.2, resets=None), reading("5h", 0.4, resets=None))

    assert chosen(PERISHING, free(one, other)) == BEN
    assert score(one, NOON + hours(30)) == Score(1 / 168, "7d")


# What the strategy's model promises beside its order: sticks, refusals and limits, as they are kept here.


def pool(**used: float) -> Shell:
    """Accounts that were measured, with so much of their weeks used."""
    shell = Shell(*used, rules=Rules(routing=Routing(strategy="perishing")))
    for name, week in used.items():
        show(shell, AccountId(name), reading(used=week))
    return shell


def show(shell: Shell, name: AccountId, *shown: Reading, met: Verdict = OK) -> None:
    """An answer with these readings, to a request that was sent just now."""
    shell.router.observe(
        Answered(
            exchange=EXCHANGE,
            account=name,
            demand=demand(None),
            verdict=met,
            sent_at=shell.now,
            at=shell.now,
            readings=tuple(replace(one, sent_at=shell.now, taken_at=shell.now) for one in shown),
        )
    )


def who(shell: Shell, *, after: float = 0, talk: str = "talk", family: str = "opus") -> tuple[str, str]:
    """Who serves a conversation's next turn so many seconds later, and why."""
    now = shell.now + seconds(after)
    choice = shell.router.choose(demand(talk, family=family), Trail(started_at=now), now)
    return (choice.account, choice.because) if isinstance(choice, Use) else ("nobody", choice.because)


@pytest.mark.parametrize(("idle", "because"), [(3600, "sticky"), (3601, "new: 7d perishes soonest (0.038/h)")])
def test_idle_of_exactly_an_hour_is_still_sticky(idle: float, because: str) -> None:
    """A second later it is scored again; here by the time that its cache was asked to live."""
    shell = pool(ann=0.5, ben=0.5, cat=0.1)
    shell.router.observe(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=shell.now))
    name, why = who(shell, after=idle)

    assert (name == ANN, why[:18]) == (because == "sticky", because[:18])


def test_a_session_on_an_account_nothing_was_read_of_stays() -> None:
    """One on an account without a secret moves."""
    shell = Shell(*NAMES, rules=Rules(routing=Routing(strategy="perishing")))
    show(shell, BEN, reading(used=0.1))
    shell.router.observe(Succeeded(exchange=EXCHANGE, account=ANN, demand=demand(), at=shell.now))
    assert who(shell) == (ANN, "sticky")

    shell.router.observe(AccountsChanged(accounts=shell.accounts, unsigned={ANN: "gone"}))
    assert who(shell)[0] != ANN


def test_with_nothing_read_anywhere_accounts_are_measured() -> None:
    """Its model keeps a new session on the client's account; here none is special, and the first request measures one."""
    assert who(Shell(*NAMES, rules=Rules(routing=Routing(strategy="perishing"))))[1] == "unmeasured"


def test_a_limit_holds_to_its_second() -> None:
    """A second before its end the account may not serve, at its end it may."""
    shell = pool(ann=0.1, ben=0.5)
    show(shell, ANN, met=limit(2))

    assert [who(shell, after=7200 + more)[0] for more in (-1, 0)] == [BEN, ANN]


def test_a_limit_ends_early_when_a_later_answer_shows_room() -> None:
    """One that was sent after it was set; not one that still shows it rejected."""
    shell = pool(ann=0.1, ben=0.5)
    show(shell, ANN, met=limit(2))
    shell.now += seconds(1)
    show(shell, ANN, reading(used=0.1, status=Status.REJECTED))
    assert who(shell)[0] == BEN

    show(shell, ANN, reading(used=0.1))
    assert who(shell)[0] == ANN


def test_a_rejection_at_a_lower_use_keeps_the_higher() -> None:
    """And an older answer that arrives later cannot lift it."""
    shell = pool(ann=0.7)
    early, late = shell.now - seconds(5), shell.now + seconds(5)
    for sent, taken, used, status in (
        (early, late, 0.6, Status.REJECTED),
        (early, late + seconds(1), 0.65, Status.ALLOWED),
    ):
        shown = replace(reading(used=used, status=status), sent_at=sent, taken_at=taken)
        shell.router.observe(
            Answered(
                exchange=EXCHANGE, account=ANN, demand=demand(), verdict=OK, sent_at=sent, at=taken, readings=(shown,)
            )
        )
    (found,) = shell.router.readings(ANN)

    assert (found.used, found.status) == (0.7, Status.REJECTED)


def test_all_three_at_their_limit_are_tried_once_each_best_first() -> None:
    """Its model relays the last 429; here the client gets one that names who recovers first, and nobody is asked again."""
    shell = pool(ann=0.5, ben=0.3, cat=0.1)
    for asked in ([CAT, BEN, ANN], []):
        run = shell.play(demand(), lambda name: limit({ANN: 4, BEN: 3, CAT: 5}[name]))
        assert run.asked == asked
        assert isinstance(run.end, GiveUp)
        assert run.end.answer is Answer.LIMITED
        assert run.end.recovers is not None
        assert run.end.recovers.account == BEN


def test_a_limit_and_then_a_refused_login() -> None:
    """The answer is the limit's; the second request asks neither again."""
    shell = pool(ann=0.1, ben=0.5)
    for asked in ([ANN, BEN], []):
        run = shell.play(demand(), lambda name: {ANN: limit(4), BEN: auth()}[name])
        assert run.asked == asked
        assert isinstance(run.end, GiveUp)
        assert run.end.answer is Answer.LIMITED


@pytest.mark.parametrize(
    ("met", "span", "others"),
    [(auth(), 15 * 60, BEN), (forbidden(), 10 * 60, ANN)],
    ids=["a refused login, 15 minutes instead of 10", "a 403, for its family alone"],
)
def test_a_refused_credential_is_skipped(met: Verdict, span: float, others: AccountId) -> None:
    """For every model, or for the family that was refused, to the second."""
    shell = pool(ann=0.1, ben=0.5)
    show(shell, ANN, met=met)

    assert [who(shell, after=span + more)[0] for more in (-1, 0)] == [BEN, ANN]
    assert who(shell, family=HAIKU)[0] == others


def test_a_403_everywhere_is_taken_back() -> None:
    """The request is to blame: the next conversation finds both accounts free."""
    shell = pool(ann=0.1, ben=0.5)
    run = shell.play(demand(), lambda _: forbidden())

    assert run.asked == [ANN, BEN]
    assert who(shell)[0] == ANN


def test_a_refusal_that_is_not_the_accounts_fault_leaves_it_where_it_is() -> None:
    """Overloaded twice and served: the conversation stays, and no hold is set."""
    shell = pool(ann=0.1, ben=0.5)
    answers = iter([overloaded(), overloaded(), OK])

    assert shell.play(demand(), lambda _: next(answers)).asked == [ANN, ANN, ANN]
    assert who(shell) == (ANN, "sticky")


@pytest.mark.parametrize(("after", "expected"), [(59, "nobody"), (60, "ann")])
def test_an_old_hold_is_tried_again_once_a_minute(after: float, expected: str) -> None:
    """At 60 seconds, not at 59: here by a request of the client's own, ten minutes after the hold was set."""
    shell = pool(ann=0.1)
    show(shell, ANN, met=limit(4))
    shell.now += seconds(660)
    assert who(shell)[0] == ANN
    shell.router.observe(Dispatched(exchange=EXCHANGE, account=ANN, demand=demand(None), at=shell.now))
    shell.router.observe(Ended(exchange=EXCHANGE, trail=trail(), at=shell.now))

    assert who(shell, after=after)[0] == expected
