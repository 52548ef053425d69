"""What if there were one account fewer: a workload played again without each of its accounts in turn."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from flowpool.comparison import WHOLE, Outcomes, differences, total
from flowpool.confidence import Interval, interval
from flowpool.errors import Failure
from flowpool.plays import Made, Play, accounts_of, asked, find_outcome, run
from routing.simulation.workload import Workload
from routing.simulator import Outcome

type Group = tuple[str, Sequence[Made | Workload]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fewer:
    """A group's plays with all accounts, and without each of them; asked: units at warm cost, seed by seed."""

    title: str
    full: Outcomes
    without: Mapping[str, Outcomes]
    asked: Sequence[float]

    def served(self, outcomes: Sequence[Outcome]) -> list[float]:
        """Tell for each seed what was served, in percents of what was asked."""
        pairs = zip(outcomes, self.asked, strict=True)
        return [WHOLE * one.served_units / asked if asked else float(WHOLE) for one, asked in pairs]

    def difference(self, strategy: str, account: str) -> Interval:
        """Tell how many percents fewer are served without an account, by seed; below nothing."""
        return differences(self.served(self.without[account][strategy]), self.served(self.full[strategy]))


def compare(groups: Sequence[Group], strategies: Sequence[str], wait: float, jobs: int) -> Iterator[Fewer]:
    """Play each group with all and with one fewer; raises Failure where there is only one."""
    names = {title: _names(title, sources) for title, sources in groups}
    plays = [
        Play(source=source, strategy=strategy, wait=wait, accounts=kept)
        for title, sources in groups
        for kept in _choices(len(names[title]))
        for strategy in strategies
        for source in sources
    ]
    with closing(run(plays, jobs)) as found:
        for title, sources in groups:
            full, *others = [
                {strategy: [find_outcome(found) for _ in sources] for strategy in strategies}
                for _ in _choices(len(names[title]))
            ]
            without = dict(zip(names[title], others, strict=True))
            yield Fewer(title=title, full=full, without=without, asked=[asked(source) for source in sources])


def document(fewer: Fewer) -> dict[str, Any]:
    """Draw it up as JSON: by the account that is missing, then by strategy."""
    return {
        account: {
            strategy: {
                **asdict(total(found)),
                "served": interval(fewer.served(found))._asdict(),
                "difference": fewer.difference(strategy, account)._asdict(),
            }
            for strategy, found in outcomes.items()
        }
        for account, outcomes in fewer.without.items()
    }


def _names(title: str, sources: Sequence[Made | Workload]) -> tuple[str, ...]:
    names = accounts_of(sources[0])
    if len(names) == 1:
        raise Failure(f"{title} has one account, and without it nobody serves; run it without: --accounts -1")
    return names


def _choices(count: int) -> list[tuple[int, ...]]:
    """List which accounts there are: all, then without each."""
    everyone = tuple(range(count))
    return [everyone, *(everyone[:gone] + everyone[gone + 1 :] for gone in everyone)]
