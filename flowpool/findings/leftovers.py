"""What killed programs left, and what became of it when that was to be taken away."""

from flowpool import leftovers
from flowpool.findings.finding import Finding, fail, ok, told, warn
from home.paths import Home

PART, DONE = "leftovers", "fixed"
FIX = "flowpool doctor --fix"


def left(home: Home) -> list[Finding]:
    """One line for each thing that is left over; none when nothing is."""
    return [warn(PART, one.what, FIX) for one in leftovers.find(home)]


def fixed(home: Home) -> list[Finding]:
    """Take away all of it; one line for each, and one when there was nothing. What fails keeps nothing else."""
    found = [_taken_away(one) for one in leftovers.find(home)]
    return found or [ok(DONE, "there was nothing to undo or to remove")]


def _taken_away(one: leftovers.Leftover) -> Finding:
    try:
        return ok(DONE, one.take_away())
    except leftovers.FAULTS as error:
        problem, mend = told(error, FIX)
        return fail(DONE, f"{one.what}, and stays: {problem}", mend)
