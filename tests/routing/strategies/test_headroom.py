"""Tests of routing/strategies/headroom.py."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing.decisions import Use
from routing.forecast import Forecast
from routing.observations import AccountsChanged, Answered, Dispatched, Ended, Restored, Succeeded
from routing.router import Router
from routing.rules import Routing, Rules
from routing.scoring import pick
from routing.spent import Spent
from routing.strategies.contract import Candidate, Free, Likings
from routing.strategies.headroom import HALF, LAST, PRESSED, STEADY, Headroom
from routing.trail import Trail
from routing.words import AccountId, ExchangeId, Family
from tests.routing.made import ANN, BEN, CAT, HAIKU, NAMES, NOON, OK, OPUS, account, demand, hours, reading, seconds
from tests.routing.strategies.contract import StrategyContract, chosen, frees, with_shown

HEADROOM = Headroom()
SHORT = 2  # the first number of a key where there is no room


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What is to come, as a test has it; a 5-hour window holds 100, a week 600, unless it says otherwise."""

    cold: float = 7.0
    pace: float = 30.0
    at_work: Mapping[AccountId, Mapping[Family, float]] = field(default_factory=dict)
    in_flight: Mapping[AccountId, float] = field(default_factory=dict)
    sizes: Mapping[str, float | None] = field(default_factory=lambda: {"5h": 100.0, "7d": 600.0})
    now: datetime = NOON

    @property
    def pledges(self) -> Mapping[AccountId, float]:
        """The paces of the others."""
        return {name: sum(known.values()) for name, known in self.at_work.items()}

    def pledged(self, name: AccountId, families: Iterable[Family]) -> float:
        """The same, of some families."""
        return sum(self.at_work.get(name, {}).get(family, 0) for family in families)

    def flying(self, name: AccountId, families: Iterable[Family] | None = None) -> float:
        """What is in flight, all of it opus."""
        return self.in_flight.get(name, 0.0) if families is None or OPUS in families else 0.0

    @property
    def holds(self) -> Mapping[str, Mapping[AccountId, float]]:
        """What windows hold, of every account the same."""
        known: defaultdict[str, Mapping[AccountId, float]] = defaultdict(dict)
        return known | {key: dict.fromkeys(NAMES, size) for key, size in self.sizes.items() if size is not None}


def free(*among: Candidate, outlook: Outlook | None = None, latest: AccountId | None = None) -> Free:
    """A free choice at noon."""
    forecast = cast("Forecast", outlook or Outlook())
    return Free(demand=demand(), candidates=among, now=NOON, latest=latest, forecast=forecast)


def shown(
    name: AccountId, session: float = 0.0, week: float = 0.0, *, resets: float | None = 4, week_resets: float = 100
) -> Candidate:
    """An account whose 5-hour window and week are used up so far; resets: None while the first is still to begin."""
    return with_shown(name, reading("5h", session, resets=resets), reading("7d", week, resets=week_resets))


def because(choice: Free) -> str:
    """Why the one that is chosen is."""
    return pick(choice, HEADROOM, Routing()).because


class Seeing(Headroom):
    """The strategy where a good deal is known of what is to come."""

    def order(self, free: Free) -> Likings:
        """With an outlook."""
        outlook = Outlook(at_work={ANN: {OPUS: 20.0}, BEN: {HAIKU: 60.0}}, in_flight={BEN: 5.0}, now=free.now)
        return super().order(replace(free, forecast=cast("Forecast", outlook)))


class TestBlind(StrategyContract):
    """Of no window it is known what it holds."""

    strategy = HEADROOM


class TestSeeing(StrategyContract):
    """It is, of shared ones."""

    strategy = Seeing()


amounts = st.floats(0, 120)
outlooks = st.builds(
    Outlook,
    cold=amounts,
    pace=amounts,
    at_work=st.fixed_dictionaries({name: st.fixed_dictionaries({OPUS: amounts}) for name in NAMES}),
    sizes=st.fixed_dictionaries({"5h": st.none() | st.floats(50, 500), "7d": st.none() | st.floats(100, 3000)}),
)
windows = st.tuples(
    st.floats(0.01, 0.96), st.floats(0.01, 0.96), st.none() | st.floats(0.1, 5), st.floats(1, 160)
)  # clear of empty and of switch_at, where other rules have a threshold


@given(
    outlooks,
    st.lists(windows, min_size=2, max_size=3),
    st.lists(st.tuples(*[st.floats(-0.005, 0.005)] * 6), min_size=20, max_size=20),
)
def test_readings_that_jitter_bring_one_switch_at_most(
    outlook: Outlook, standing: list[tuple[float, float, float | None, float]], noise: list[tuple[float, ...]]
) -> None:
    """Half a percent either way, twenty times: the choice goes over once at most, and then stays."""
    latest, turns = None, []
    for offs in noise:
        among = [
            shown(NAMES[n], session + offs[n], week + offs[n + 3], resets=resets, week_resets=week_resets)
            for n, (session, week, resets, week_resets) in enumerate(standing)
        ]
        latest = chosen(HEADROOM, free(*among, outlook=outlook, latest=latest))
        turns.append(latest)

    assert sum(one != other for one, other in pairwise(turns)) <= 1


@given(frees)
def test_no_account_is_forbidden(choice: Free) -> None:
    """It only orders: whoever is alone is chosen."""
    for one in choice.candidates:
        assert chosen(HEADROOM, replace(choice, candidates=(one,))) == one.account.id


TIGHT = Outlook(cold=7.0, pace=30.0)  # wants 37 of 100


@pytest.mark.parametrize(
    ("session", "resets", "is_roomy"),
    [
        (0.61, 4.0, True),
        (0.64, 4.0, False),
        (0.64, 0.5, True),  # it wants half as much until the reset
        (0.8, 0.25, True),
        (0.8, 0.75, False),
        (0.92, 0.01, True),  # the turn alone
        (0.94, 0.01, False),
        (1.0, -0.01, True),  # it has reset
    ],
)
def test_a_roomy_account_comes_first(session: float, resets: float, is_roomy: bool) -> None:
    """Room for the next hour, or until the reset; ann's week perishes far sooner than ben's."""
    ann, ben = shown(ANN, session, resets=resets, week_resets=10), shown(BEN, 0.3, week_resets=160)

    assert chosen(HEADROOM, free(ann, ben, outlook=TIGHT)) == (ANN if is_roomy else BEN)


@pytest.mark.parametrize(
    ("outlook", "expected"),
    [
        (Outlook(), ANN),
        (Outlook(cold=40, pace=30), BEN),  # the turn itself is large
        (Outlook(pace=70), BEN),  # so is what follows
        (Outlook(at_work={ANN: {OPUS: 40.0}}), BEN),  # others are at work there
        (Outlook(at_work={ANN: {HAIKU: 40.0}}), BEN),  # with any model
        (Outlook(at_work={BEN: {OPUS: 40.0}}), ANN),
        (Outlook(in_flight={ANN: 40.0}), BEN),  # or in flight to it
        (Outlook(sizes={"5h": 100.0, "7d": 30.0}), BEN),  # its week is too small
        (Outlook(sizes={"5h": None, "7d": 600.0}), ANN),  # nothing is known but that half of it is left
    ],
)
def test_room_is_for_all_that_is_coming(outlook: Outlook, expected: AccountId) -> None:
    """What is wanted of ann, whose week perishes sooner: its 5-hour window is used up to 40 %."""
    ann = replace(shown(ANN, 0.4, 0.1, week_resets=20), leases=1)
    ben = with_shown(BEN, reading("5h", 0.3, resets=4), reading("7d", 0.1, resets=160))

    is_roomy = HEADROOM.order(free(ann, ben, outlook=outlook))[ANN].key[0] < SHORT

    assert is_roomy is (expected == ANN)
    assert not is_roomy or chosen(HEADROOM, free(ann, ben, outlook=outlook)) == ANN


def test_a_family_has_room_of_its_own() -> None:
    """What a model line's window holds is wanted by its own families alone."""
    line = reading("7d_opus", 0.5, resets=20)
    ann = with_shown(ANN, reading("5h", 0.0, resets=4), reading("7d", 0.1, resets=20), line)
    for family, is_short in ((OPUS, True), (HAIKU, False)):
        outlook = Outlook(at_work={ANN: {family: 20.0}}, sizes={"5h": 100.0, "7d": 600.0, "7d_opus": 100.0})
        assert (HEADROOM.order(free(ann, outlook=outlook))[ANN].key[0] == SHORT) is is_short


def test_a_reserve_is_no_room() -> None:
    """What is held back does not count as left."""
    ann = shown(ANN, 0.4)
    held = replace(ann, reserves={hours(5): 0.3})

    assert HEADROOM.order(free(ann))[ANN].key[0] < SHORT
    assert HEADROOM.order(free(held))[ANN].key[0] == SHORT


def test_the_most_perishing_week_is_first_among_roomy_accounts() -> None:
    """What it would lose per hour, not what is left."""
    ann, ben = shown(ANN, 0.3, 0.5, week_resets=10), shown(BEN, 0.0, 0.1, week_resets=100)

    assert chosen(HEADROOM, free(ann, ben)) == ANN
    assert because(free(ann, ben)) == "new: roomy, 7d perishes soonest (0.050/h)"


@pytest.mark.parametrize(
    ("session", "expected"),
    [(0.3, ANN), (0.55, BEN)],  # 70 and 45 of 37 that are wanted, beside 100: the roots differ by 1.2 and 1.5
)
def test_a_more_comfortable_account_may_come_before_one_that_perishes_a_little_sooner(
    session: float, expected: AccountId
) -> None:
    """What is barely roomy now will soon not be; ann's week perishes 1.3 times as soon."""
    ann, ben = shown(ANN, session, 0.35, week_resets=50), shown(BEN, 0.0, 0.5, week_resets=50, resets=4.5)
    choice = free(ann, ben)

    assert chosen(HEADROOM, choice) == expected
    said = (
        "soonest (0.013/h)" if expected == ANN else "roomier (2.7 times what is wanted), and 7d perishes nearly soonest"
    )
    assert said in because(choice)


@pytest.mark.parametrize(("coming", "expected"), [(0.1, ANN), (0.9, ANN), (1.1, BEN)])
def test_a_window_that_has_not_begun_is_first_when_pressed(coming: float, expected: AccountId) -> None:
    """When the next hour wants more than a quarter of what the running windows still hold, and not before."""
    left = 80.0
    outlook = Outlook(cold=0.0, pace=0.0, at_work={ANN: {OPUS: coming * PRESSED * left}})
    ann, ben = shown(ANN, 1 - left / 100, week_resets=10), shown(BEN, 0.0, resets=None)

    assert chosen(HEADROOM, free(ann, ben, outlook=outlook)) == expected
    said = because(free(ann, ben, outlook=outlook))
    assert said == ("new: roomy, and its 5h is still to begin" if expected == BEN else said)


def test_a_window_that_has_not_begun_is_not_first_without_room() -> None:
    """Its week may be spent."""
    busy = Outlook(at_work={ANN: {OPUS: 30.0}})
    ann, ben = shown(ANN, 0.2, week_resets=10), shown(BEN, 0.0, 0.97, resets=None)

    assert chosen(HEADROOM, free(ann, ben, outlook=busy)) == ANN


@pytest.mark.parametrize(
    ("ann", "ben", "expected"),
    [
        ((0.8, 0.2), (0.9, 0.2), ANN),
        ((0.9, 0.2), (0.8, 0.2), BEN),
        ((0.8, 0.97), (0.75, 0.97), BEN),  # each by its own worst window
        ((0.70, 0.975), (0.9, 0.1), ANN),  # 37 of 30 and of 15, against 37 of 10
    ],
)
def test_where_none_is_roomy_the_least_short_is_first(
    ann: tuple[float, float], ben: tuple[float, float], expected: AccountId
) -> None:
    """Not the least used, and not the one that resets first."""
    choice = free(shown(ANN, *ann), shown(BEN, *ben, week_resets=3))

    assert chosen(HEADROOM, choice) == expected
    assert because(choice).startswith("new: none is roomy, its ")


@pytest.mark.parametrize(
    ("ann", "ben", "expected"),
    [
        ((HALF - 0.05, 0.1), (HALF - 0.3, 0.1), ANN),  # below half: the week that perishes sooner
        ((HALF + 0.05, 0.1), (HALF - 0.05, 0.1), BEN),
        ((HALF + 0.05, 0.1), (HALF + 0.3, 0.1), ANN),  # else the least used
        ((HALF + 0.3, 0.1), (HALF + 0.05, 0.1), BEN),
        ((0.1, 1 - LAST / 2), (HALF - 0.05, 0.9), BEN),
    ],
)
def test_before_sizes_are_known_percents_decide(
    ann: tuple[float, float], ben: tuple[float, float], expected: AccountId
) -> None:
    """Below half of the 5-hour window, else the least used."""
    choice = free(shown(ANN, *ann, week_resets=10), shown(BEN, *ben), outlook=Outlook(sizes={}))

    assert chosen(HEADROOM, choice) == expected


@pytest.mark.parametrize("sizes", [{}, {"5h": 100.0, "7d": 600.0}], ids=["unknown", "known"])
def test_without_a_known_reset_of_the_week_the_roomier_is_first(sizes: dict[str, float | None]) -> None:
    """No lot decides, and after an account whose week is known to perish."""
    windows = {name: reading("5h", used, resets=4) for name, used in ((ANN, 0.45), (BEN, 0.05), (CAT, 0.49))}
    week, known = reading("7d", 0.1, resets=None), reading("7d", 0.1, resets=100)
    ann, ben = with_shown(ANN, windows[ANN], week), with_shown(BEN, windows[BEN], week)
    cat = with_shown(CAT, windows[CAT], known)
    outlook = Outlook(cold=2.0, pace=5.0, sizes=sizes)
    talks = [replace(free(ann, ben, outlook=outlook), demand=demand(conversation=f"c{n}")) for n in range(8)]

    assert {chosen(HEADROOM, choice) for choice in talks} == {BEN}
    assert chosen(HEADROOM, free(ann, ben, cat, outlook=outlook)) == CAT


def test_the_latest_account_counts_a_little_more() -> None:
    """As much as two readings can be off, and no more."""
    for more, expected in ((0.5 * STEADY, BEN), (1.5 * STEADY, ANN)):
        ann, ben = shown(ANN, 0.3, 0.5 - more), shown(BEN, 0.3, 0.5)
        assert chosen(HEADROOM, free(ann, ben, latest=BEN)) == expected
        assert chosen(HEADROOM, free(ann, ben)) == ANN


def test_without_a_known_use_nothing_is_said() -> None:
    """Requests in flight decide then."""
    unread = with_shown(ANN, reading("5h", None), reading("7d", None))

    assert HEADROOM.order(free(unread, with_shown(BEN))) == {}
    assert because(free(with_shown(BEN, reading("5h", None)))) == "new: fewest requests in flight"


# Stories, through the Router


WEEK_ENDS = {ANN: 20.0, BEN: 60.0, CAT: 100.0}


class Pool:
    """Accounts behind a Router, of which each 5-hour window holds a million, and each week six; ann's week ends soonest."""

    def __init__(self, *names: AccountId) -> None:
        self.now = NOON
        self.used = dict.fromkeys(names, 0.0)
        self.opened: dict[AccountId, datetime] = {}
        self.router = Router(Rules())
        self.router.observe(AccountsChanged(accounts=tuple(map(account, names))))
        self.count = 0

    def sends(self, talk: str, tokens: int = 20_000, *, to: AccountId | None = None) -> tuple[AccountId, str]:
        """A request goes out, where the Router likes it best or to that one; it stays in flight."""
        self.count += 1
        what = replace(demand(talk), tokens=tokens)
        choice = self.router.choose(what, Trail(started_at=self.now), self.now)
        assert isinstance(choice, Use)
        name, exchange = to or choice.account, ExchangeId(f"e{self.count}")
        self.router.observe(Dispatched(exchange=exchange, account=name, demand=what, at=self.now, is_free=True))
        return name, choice.because

    def serves(self, talk: str, tokens: int = 20_000, *, to: AccountId | None = None) -> AccountId:
        """A request is answered at once; it was cold."""
        name, _ = self.sends(talk, tokens, to=to)
        what, exchange = replace(demand(talk), tokens=tokens), ExchangeId(f"e{self.count}")
        spent = Spent(written=tokens, output=600)
        self.used[name] += spent.cost / 1e6
        opened = self.opened.setdefault(name, self.now)
        shown = tuple(
            reading(key, round(self.used[name] / share, 2), resets=resets)
            for key, share, resets in (("5h", 1, (opened - NOON) / hours(1) + 5), ("7d", 6, WEEK_ENDS[name]))
        )
        shown = tuple([replace(one, sent_at=self.now, taken_at=self.now) for one in shown])
        now = self.now
        for one in (
            Answered(exchange=exchange, account=name, demand=what, verdict=OK, sent_at=now, at=now, readings=shown),
            Succeeded(exchange=exchange, account=name, demand=what, at=now, spent=spent),
            Ended(exchange=exchange, trail=Trail(started_at=now), at=now),
        ):
            self.router.observe(one)
        return name

    def learns(self) -> None:
        """Each account is used by several conversations, long enough ago that none of them is at work."""
        for name in self.used:
            for number in range(5):
                self.serves(f"old {name} {number}", to=name)
        self.now += seconds(1200)


def test_subagents_that_start_in_one_second_spread() -> None:
    """24 at once, of which no reading shows anything yet: by what each will want, before the first is answered."""
    pool = Pool(*NAMES)
    pool.learns()
    sent = Counter(pool.sends(f"subagent {number}")[0] for number in range(24))

    assert min(sent[name] for name in NAMES) >= 6


def test_a_big_cold_turn_goes_where_it_fits() -> None:
    """It would be refused where little is left, and then that account is held; a small one may still go there."""
    pool = Pool(ANN, BEN)
    pool.learns()
    for number in range(18):
        pool.serves(f"more {number}", to=ANN)
    pool.now += seconds(960)

    assert 0.3 < 1 - pool.used[ANN] < 0.6
    assert pool.sends("big", 300_000)[0] == BEN


def test_a_new_window_is_begun_when_it_is_needed() -> None:
    """While ann's window has much left, cat's need not begin; when much is wanted, it does."""
    pool = Pool(ANN, CAT)
    pool.learns()
    pool.now += hours(4.9)  # both windows have reset
    pool.opened.clear()
    pool.used = dict.fromkeys(pool.used, 0.0)
    pool.serves("first", 1_000, to=ANN)
    pool.now += seconds(960)
    calm = pool.sends("second", 1_000)
    for number in range(6):
        pool.sends(f"busy {number}", to=ANN)
    busy = pool.sends("third", 1_000)

    assert "still to begin" not in calm[1]
    assert busy == (CAT, "new: roomy, and its 5h is still to begin")


def test_what_was_learned_outlives_a_restart() -> None:
    """The next Router knows what windows hold before its first answer."""
    pool = Pool(*NAMES)
    pool.learns()
    old = pool.router.remembered()
    next_one = Pool(*NAMES)
    next_one.router.observe(Restored(remembered=old, at=pool.now))

    assert next_one.router.remembered().capacities == old.capacities != {}
