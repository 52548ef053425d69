"""How strategies compare over the seeds of one kind of workload, and over all kinds."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any

from flowpool.confidence import LEVEL, Interval, interval
from flowpool.plays import Bound
from routing.simulator import Outcome

WHOLE = 100  # percents

type Outcomes = Mapping[str, Sequence[Outcome]]
"""By strategy, one of each seed in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of one kind, or of one file."""

    title: str
    outcomes: Outcomes
    bounds: Sequence[Bound]

    @property
    def is_bounded(self) -> bool:
        """Whether the bound is known."""
        return all(bound.units is not None for bound in self.bounds)


def total(outcomes: Iterable[Outcome]) -> Outcome:
    """Add outcomes up, each of their numbers by itself."""
    listed = list(outcomes)
    return Outcome(**{field.name: sum(getattr(one, field.name) for one in listed) for field in fields(Outcome)})


def totals(results: Iterable[Result], strategy: str) -> Outcome:
    """Add up all that one strategy did."""
    return total(outcome for result in results for outcome in result.outcomes[strategy])


def bound_of_all(results: Iterable[Result]) -> float | None:
    """Add up all bounds; None as soon as one is missing."""
    units = [bound.units for result in results for bound in result.bounds]
    known = [one for one in units if one is not None]
    return sum(known) if len(known) == len(units) else None


def shares(result: Result, strategy: str) -> list[float]:
    """Tell for each seed what was served, in percents of the bound, or of what was asked where there is none.

    Where nothing could be served, all of it was.
    """
    found = []
    for outcome, bound in zip(result.outcomes[strategy], result.bounds, strict=True):
        whole = bound.asked if bound.units is None else bound.units
        found.append(WHOLE * outcome.served_units / whole if whole else float(WHOLE))
    return found


def shares_of_all(results: Sequence[Result], strategy: str) -> list[float]:
    """Tell the same for all kinds, each as weighty as another: seed by seed where all have as many, else one mean."""
    found = [shares(result, strategy) for result in results]
    if len({len(one) for one in found}) > 1:
        return [fmean(map(fmean, found))]
    return [fmean(seed) for seed in zip(*found, strict=True)]


def differences(mine: Sequence[float], others: Sequence[float]) -> Interval:
    """Compare two strategies seed by seed, on the same workloads."""
    return interval([one - other for one, other in zip(mine, others, strict=True)])


def confidence(results: Sequence[Result], strategies: Sequence[str], default: str) -> dict[str, Any]:
    """Draw up how sure the comparison is.

    Each strategy's share with its interval, and beside it the paired difference to the default one if that was played too.
    """
    is_bounded = all(result.is_bounded for result in results)
    against = default if default in strategies else None
    kinds = {r.title: _document({name: shares(r, name) for name in strategies}, against) for r in results}
    everything = _document({name: shares_of_all(results, name) for name in strategies}, against)
    return {
        "level": LEVEL,
        "served": "percent of the bound" if is_bounded else "percent of what was asked",
        "against": against,
        "kinds": kinds,
        "all": everything,
    }


def _document(found: Mapping[str, Sequence[float]], against: str | None) -> dict[str, Any]:
    return {
        name: {
            "seeds": len(values),
            "served": interval(values)._asdict(),
            "difference": None if against is None else differences(values, found[against])._asdict(),
        }
        for name, values in found.items()
    }
