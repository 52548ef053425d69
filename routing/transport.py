"""What a failure without an answer means: rows 1 to 5 of docs/verdicts.md."""

from datetime import timedelta
from enum import Enum

from routing.rules import Rules
from routing.verdicts import Hop, Verdict, VerdictKind
from routing.words import Demand


class Failure(Enum):
    """How an attempt ended without an answer that could be judged."""

    UNREACHABLE = 1  # no connection, so nothing was sent
    STALE = 2  # a connection that had been idle ended as soon as it was used
    BROKEN = 3  # after dispatch: reset, end, garbage, a time-out, a broken JSON body
    EMPTY_STREAM = 4  # a 200 stream ended before its first deciding event


def transport_verdict(failure: Failure, why: str, demand: Demand, rules: Rules) -> Verdict:
    """Find the row of a failure; why says in a few words what happened."""
    seconds = tuple(timedelta(seconds=s) for s in rules.retry.connect)
    match failure:
        case Failure.UNREACHABLE:
            return Verdict(row=1, kind=VerdictKind.TRANSPORT, because=why, same=seconds)
        case Failure.STALE:
            return Verdict(row=2, kind=VerdictKind.TRANSPORT, because=why, same=(timedelta(),))
        case _:  # BROKEN, EMPTY_STREAM
            return _after_dispatch(failure.value, why, demand, rules)


def _after_dispatch(row: int, why: str, demand: Demand, rules: Rules) -> Verdict:
    if demand.replayable:
        return Verdict(row=row, kind=VerdictKind.TRANSPORT, because=why, same=(timedelta(),))
    hop = Hop.ONE if rules.ambiguous else Hop.NO
    return Verdict(row=row, kind=VerdictKind.TRANSPORT, because=why, hop=hop)
