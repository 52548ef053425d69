"""What every strategy must keep over whole free choices; a strategy's test file subclasses this once per setting."""

import math
from copy import deepcopy
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from routing.readings import Reading
from routing.rules import Routing
from routing.scoring import pick
from routing.strategies.contract import Candidate, Free, Strategy
from routing.words import AccountId, Kind
from tests.routing.made import ANN, NAMES, NOON, account, demand, fractions, moments, readings, window

by_each_subclass = settings(suppress_health_check=[HealthCheck.differing_executors])  # no state but the strategy
shown = st.lists(readings, max_size=4, unique_by=lambda r: r.window.key).map(tuple)
steps = st.sampled_from([0.001, 0.01, 0.02, 0.1]) | fractions  # small ones cross a threshold or another account
RESERVES = {window("5h").length: 0.1, window("7d").length: 0.2}


def candidates(name: AccountId) -> st.SearchStrategy[Candidate]:
    """One account of this name, however it stands."""
    return st.builds(
        Candidate,
        account=st.builds(account, st.just(name), kind=st.sampled_from(Kind), rank=st.none() | st.integers(0, 2)),
        readings=shown,
        reserves=st.sampled_from([{}, RESERVES]),
        leases=st.integers(0, 2),
        given_at=st.integers(0, 3),
        pressed=st.booleans(),
    )


def free(
    *among: Candidate, latest: AccountId | None = None, home: AccountId | None = None, talk: str | None = "talk"
) -> Free:
    """A free choice at noon."""
    return Free(demand=demand(talk), candidates=among, now=NOON, latest=latest, home=home)


def with_shown(name: AccountId, *of: Reading, leases: int = 0, given_at: int = 0, pressed: bool = False) -> Candidate:
    """An account of which this was read."""
    return Candidate(account=account(name), readings=of, leases=leases, given_at=given_at, pressed=pressed)


def chosen(strategy: Strategy, choice: Free) -> AccountId:
    """Who a choice among these goes to."""
    return pick(choice, strategy, Routing()).account


frees = st.builds(
    Free,
    demand=st.builds(demand, st.sampled_from(["talk", "chat", "word"])),
    candidates=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True).flatmap(
        lambda names: st.tuples(*map(candidates, names))
    ),
    now=moments,
    home=st.none() | st.sampled_from(NAMES),
    latest=st.none() | st.sampled_from(NAMES),
)


def fuller(choice: Free, account_: AccountId, more: dict[str, float]) -> Free:
    """The same choice, with so much more of each of the account's windows used."""
    return replace(
        choice,
        candidates=tuple(
            replace(one, readings=tuple(_used(r, more.get(r.window.key, 0.0)) for r in one.readings))
            if one.account.id == account_
            else one
            for one in choice.candidates
        ),
    )


def _used(reading: Reading, more: float) -> Reading:
    return reading if reading.used is None else replace(reading, used=reading.used + more)


class StrategyContract:
    """Inherited by the test class of each strategy."""

    strategy: Strategy

    @by_each_subclass
    @given(frees, st.sampled_from(NAMES), st.dictionaries(st.sampled_from(["5h", "7d", "7d_opus", "7d_new"]), steps))
    def test_more_use_of_an_account_never_makes_it_chosen(
        self, choice: Free, name: AccountId, more: dict[str, float]
    ) -> None:
        """Who was not chosen is not chosen once more of its windows is used."""
        assume(chosen(self.strategy, choice) != name)

        assert chosen(self.strategy, fuller(choice, name, more)) != name

    @by_each_subclass
    @given(frees)
    def test_keys_are_finite_and_reasons_can_be_said(self, choice: Free) -> None:
        """Each liking is of a candidate, has a key of finite numbers, and a reason."""
        likings = self.strategy.order(choice)

        assert set(likings) <= {one.account.id for one in choice.candidates}
        assert all(math.isfinite(number) for key, _ in likings.values() for number in key)
        assert all(because.strip() for _, because in likings.values())
        assert pick(choice, self.strategy, Routing()).because

    @by_each_subclass
    @given(frees)
    def test_the_order_of_readings_does_not_matter(self, choice: Free) -> None:
        """The same readings give the same keys in any order."""
        turned = tuple(replace(one, readings=one.readings[::-1]) for one in choice.candidates)
        keys = [
            {name: liking.key for name, liking in self.strategy.order(each).items()}
            for each in (choice, replace(choice, candidates=turned))
        ]

        assert keys[0] == keys[1]

    @by_each_subclass
    @given(frees)
    def test_what_it_is_given_stays_as_it_is(self, choice: Free) -> None:
        """Asked twice it answers the same, and the choice is what it was."""
        before = deepcopy(choice)
        likings = dict(self.strategy.order(choice))

        assert choice == before
        assert self.strategy.order(choice) == likings

    @by_each_subclass
    @given(frees)
    def test_pressure_counts_only_where_it_is_found_out(self, choice: Free) -> None:
        """A strategy that does not say that it reads pressure chooses the same without it."""
        calm = replace(choice, candidates=tuple(replace(one, pressed=False) for one in choice.candidates))

        assert self.strategy.reads_pressure or chosen(self.strategy, choice) == chosen(self.strategy, calm)

    def test_of_nobody_nothing_is_said(self) -> None:
        """Without candidates there are no likings; of one account of which nothing is known, the choice is that one."""
        assert not self.strategy.order(free())
        assert chosen(self.strategy, free(with_shown(ANN))) == ANN
