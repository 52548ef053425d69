"""What waits to be written is bounded, and waits in its order."""

from hypothesis import given
from hypothesis import strategies as st

from home.state.backlog import BATCH, Backlog
from home.state.sampling import Sample
from tests.home.state.made import line, picture
from tests.routing.made import ANN, reading

SAMPLE: Sample = ((ANN, "7d"), reading())


@given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 30))
def test_a_queue_keeps_its_newest(counts: list[int], bound: int) -> None:
    """However much comes between two batches, the newest so many are taken, in order, and the rest is counted."""
    backlog, taken, given_, kept = Backlog(bound), [], 0, 0
    for count in counts:
        for _ in range(count):
            backlog.enter(line(given_))
            given_ += 1
        batch = backlog.take(0)
        got = [] if batch is None else [int(one["id"], 16) for one in batch.lines]
        assert got == list(range(given_ - min(count, bound), given_))
        taken += got
        kept += len(got)
        backlog.done()

    assert backlog.dropped() == given_ - kept


def test_a_picture_replaces_the_one_before() -> None:
    """Only the newest is taken, with all the points of history."""
    backlog = Backlog()
    first, second = picture(used=0.1), picture(used=0.2)
    backlog.put(first, [SAMPLE])
    backlog.put(second, [SAMPLE])
    batch = backlog.take(0)

    assert batch is not None
    assert (batch.picture is second, len(batch.samples)) == (True, 2)
    assert backlog.take(0) is None
    backlog.put(first, [])
    assert backlog.newer() is first
    assert backlog.newer() is None


def test_a_batch_is_bounded() -> None:
    """What is left is taken next, at once."""
    backlog = Backlog()
    for number in range(BATCH + 1):
        backlog.enter(line(number))
    sizes = [len(batch.lines) for batch in (backlog.take(0), backlog.take(60)) if batch is not None]

    assert sizes == [BATCH, 1]


def test_a_full_history_drops_its_oldest() -> None:
    """Its queue has the same bound."""
    backlog = Backlog(2)
    backlog.put(picture(), [SAMPLE] * 5)
    batch = backlog.take(0)

    assert batch is not None
    assert (len(batch.samples), backlog.dropped()) == (2, 3)


def test_it_is_flushed_when_nothing_is_left_or_in_hand() -> None:
    """A batch in the writer's hands is not written yet."""
    backlog = Backlog()
    assert backlog.flush(0)
    backlog.enter(line())
    assert not backlog.flush(0)
    backlog.take(60)
    assert not backlog.flush(0)
    backlog.done()
    assert backlog.flush(0)


def test_closing_ends_every_wait() -> None:
    """Neither a pause nor waiting for something to write goes on."""
    backlog = Backlog()
    assert not backlog.is_closed
    backlog.close()
    backlog.pause(60)

    assert (backlog.take(60), backlog.is_closed) == (None, True)
