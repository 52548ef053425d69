"""What comes next in a play."""

from hypothesis import given
from hypothesis import strategies as st

from routing.simulation.agenda import Agenda
from routing.simulation.workload import Outside, Workload
from tests.routing.simulation.made import turn, use, workload, workloads


def names(agenda: Agenda[str]) -> list[str]:
    """All that is to come, in short."""
    found = []
    while agenda:
        _, _, what = agenda.next()
        found.append(what if isinstance(what, str) else "outside" if isinstance(what, Outside) else what.conversation)
    return found


def test_of_one_moment_outside_use_comes_first_then_who_waited_longest() -> None:
    """Only then the turns of that moment, as they stand in the file."""
    agenda: Agenda[str] = Agenda(workload(turn(0, "zero"), turn(5, "b"), turn(5, "a"), use(1, 5)).events())
    agenda.wake(5, "early")
    agenda.wake(5, "late")
    agenda.wake(4, "before")

    assert names(agenda) == ["zero", "before", "outside", "early", "late", "b", "a"]


@given(workloads(), st.lists(st.integers(0, 10**6)))
def test_time_never_goes_back_and_nothing_is_lost(played: Workload, pauses: list[int]) -> None:
    """No two things have one number."""
    agenda: Agenda[str] = Agenda(played.events())
    for at in pauses:
        agenda.wake(at, "pause")
    found = []
    while agenda:
        found.append(agenda.next())
    times = [at for at, _, _ in found]

    assert times == sorted(times)
    assert len({number for _, number, _ in found}) == len(found) == len(played.events()) + len(pauses)


def test_what_is_woken_meanwhile_takes_its_place() -> None:
    """Before what comes later."""
    agenda: Agenda[str] = Agenda(workload(turn(0, "a"), turn(9, "b")).events())
    assert agenda.next()[0] == 0
    agenda.wake(3, "pause")

    assert names(agenda) == ["pause", "b"]
