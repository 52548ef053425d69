"""Recent: the requests that ended last."""

from hypothesis import given
from hypothesis import strategies as st

from addons.recent import KEPT, Recent


def kept(numbers: list[int], bound: int = KEPT) -> Recent:
    """A memory of requests with these ids, in this order."""
    made = Recent(bound)
    for number in numbers:
        made.add({"id": f"r{number}"})
    return made


def ids(lines: list[dict[str, str]]) -> list[str]:
    """The ids of lines."""
    return [line["id"] for line in lines]


@given(st.integers(0, 30), st.integers(1, 10), st.integers(0, 40))
def test_it_holds_the_last_ones_in_their_order(count: int, bound: int, wanted: int) -> None:
    """Never more than the bound, never one that is older than one that is missing."""
    found = ids(kept(list(range(count)), bound).last(wanted))

    assert found == [f"r{n}" for n in range(count)][max(count - min(bound, wanted), 0) :]


@given(st.integers(1, 30), st.integers(1, 10), st.integers(0, 29))
def test_asking_for_what_came_after_leaves_no_gap(count: int, bound: int, seen: int) -> None:
    """Who asks after the last one he saw gets every later one; after one that is gone, all there is."""
    numbers = list(range(count))
    there = numbers[-bound:]
    found = ids(kept(numbers, bound).after(f"r{seen}"))

    assert found == [f"r{n}" for n in there if n > seen or seen not in there]
