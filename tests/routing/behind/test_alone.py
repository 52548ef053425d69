"""Tests of routing/behind/alone.py."""

from tests.routing.behind.said import words
from tests.routing.made import ANN, BEN, CAT, reading
from tests.routing.strategies.contract import free, with_shown


def test_a_lower_score_is_told_as_such() -> None:
    """In the words of the strategy."""
    told = words("least_used", free(with_shown(ANN, reading("7d", 0.1)), with_shown(BEN, reading("5h", 0.6))))

    assert told == {
        ANN: "7d is its fullest window, with 90% left",
        BEN: "5h is its fullest window, with 40% left, less than ann",
    }


def test_what_is_better_by_noise_alone_is_told_so() -> None:
    """Beside the idle latest choice; one that is as good comes after it too."""
    of = {name: with_shown(name, reading("7d", used)) for name, used in ((ANN, 0.5), (BEN, 0.485), (CAT, 0.5))}
    told = words("least_used", free(*of.values(), latest=ANN))

    assert told[BEN] == "7d is its fullest window, with 52% left, more, but by too little to change over from ann"
    assert told[CAT] == "as good, but ann had the latest choice"
